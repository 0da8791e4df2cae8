// The whole page: a chapter for each entry point of the package, and for the main one a chapter for each part of it.
import { type DeclarationReflection, ReflectionKind } from 'typedoc'
import { section } from './declaration.ts'

interface Chapter {
  title: string
  text?: string
  /** Which files below `src/` it shows, in this order. */
  files: readonly RegExp[]
  /** Only for events, which all begin with the same fields. */
  withoutInherited?: boolean
}

/** The main entry point has more than a hundred names. Each stands in the first chapter that shows its file. */
const MAIN: readonly Chapter[] = [
  {
    title: 'The instance',
    files: [/^durably\.ts$/, /^config\.ts$/, /^lifecycle\.ts$/, /^logging\//, /^health\.ts$/, /^capabilities\.ts$/],
  },
  { title: 'Inside a job', files: [/^model\/job\.ts$/, /^model\/(transaction|effect)\.ts$/, /^model\/retry-policy\.ts$/] },
  {
    title: 'Triggering, reading and changing runs',
    files: [/^runs\//, /^model\/(run-filter|run)\.ts$/, /^model\/(step|log|signal|phase)\.ts$/, /until-idle/],
  },
  {
    title: 'Events',
    text: 'Every event has `type`, `timestamp` and `sequence`, and those of a run have `runId` and `jobName`; the tables show what else they have.',
    files: [/^model\/event\.ts$/],
    withoutInherited: true,
  },
  { title: 'Errors', files: [/^model\/errors\.ts$/] },
  { title: 'Listeners and plugins', files: [/^(events|worker)\//, /^plugin\.ts$/] },
  { title: 'Values', files: [/^(model|client)\//] },
  { title: 'Writing a store of your own', text: 'Only for those who bring a database that Durably does not support.', files: [/./] },
]

export function page(entries: ReadonlyMap<string, DeclarationReflection[]>): string {
  const chapters = Array.from(entries, ([name, symbols]) =>
    name === '@coji/durably' ? MAIN.map((chapter) => mainChapter(chapter, symbols)) : [entryChapter(name, symbols)],
  ).flat()
  const contents = chapters.map(({ title }) => `- [${title}](#${anchor(title)})`)
  const intro =
    'Everything that the package exports, from the comments in its source. `npm run reference` writes this page. To learn how things are used, ' +
    'begin with [Getting started](guides/getting-started.md).'
  return `${['# Reference', intro, contents.join('\n'), ...chapters.map(({ markdown }) => markdown)].join('\n\n')}\n`
}

function mainChapter(chapter: Chapter, symbols: readonly DeclarationReflection[]) {
  const shown = symbols.filter((symbol) => MAIN.find((one) => placeIn(one, symbol) >= 0) === chapter)
  const sorted = shown.sort((a, b) => placeIn(chapter, a) - placeIn(chapter, b))
  return chapterOf(chapter.title, chapter.text ?? '', sorted, chapter.withoutInherited)
}

function placeIn({ files }: Chapter, symbol: DeclarationReflection): number {
  return files.findIndex((file) => file.test(fileOf(symbol)))
}

function entryChapter(name: string, symbols: readonly DeclarationReflection[]) {
  const own = symbols.filter(({ kind }) => kind !== ReflectionKind.Reference)
  const again = symbols.filter(({ kind }) => kind === ReflectionKind.Reference).map((symbol) => `\`${symbol.name}\``)
  return chapterOf(name, again.length > 0 ? `Also exports, as described above: ${again.join(', ')}.` : '', own)
}

function chapterOf(title: string, text: string, symbols: readonly DeclarationReflection[], withoutInherited = false) {
  const sections = symbols.map((symbol) => section(symbol, withoutInherited))
  return { title, markdown: [`## ${title}`, text, ...sections].filter((part) => part !== '').join('\n\n') }
}

/** The path of its file below `src/`. */
function fileOf({ sources }: DeclarationReflection): string {
  return sources?.[0]?.fullFileName.split('/src/').at(-1) ?? ''
}

const anchor = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
