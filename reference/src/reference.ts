// Writes docs/reference.md from the JSDoc of the packages; with --check it only compares. Everything that is exported needs a sentence. TypeDoc has a workspace of its own because it
// does not support the TypeScript that the rest is compiled with.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, type DeclarationReflection, ReflectionKind } from 'typedoc'
import { page } from './page.ts'
import { unexplained } from './unexplained.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = join(ROOT, 'docs/reference.md')

async function symbolsOf(folder: string): Promise<[string, DeclarationReflection[]][]> {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    name: string
    exports: Record<string, { default: string } | string>
  }
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [{ name: path.replace('.', name), source: target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts') }],
  )
  const app = await Application.bootstrap({
    entryPoints: entries.map(({ source }) => join(ROOT, folder, source)),
    tsconfig: join(ROOT, folder, 'tsconfig.json'),
    // `tsc -b` has checked the types already, with the options of the repository.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeInternal: true,
    sort: ['source-order'],
    readme: 'none',
    logLevel: 'Error',
  })
  const project = await app.convert()
  if (!project) throw new Error(`TypeDoc could not read ${folder}`)
  return entries.map(({ name, source }) => {
    const found =
      entries.length === 1
        ? project.children
        : project.children?.find(({ sources }) => sources?.[0]?.fullFileName === join(ROOT, folder, source))?.children
    if (!found) throw new Error(`TypeDoc found nothing in ${source}`)
    return [name, found]
  })
}

const entries = new Map([
  ...(await symbolsOf('packages/durably')),
  ...(await symbolsOf('packages/durably-react')),
  ...(await symbolsOf('packages/durably-ui')),
])
const text = page(entries)
if (!process.argv.includes('--check')) writeFileSync(PAGE, text)
else if (readFileSync(PAGE, 'utf8') !== text) {
  console.error('docs/reference.md is not what the source says: run `npm run reference`, look at the difference, and commit it.')
  process.exitCode = 1
}
const silent = unexplained([...entries.values()].flat().filter(({ kind }) => kind !== ReflectionKind.Reference))
if (silent.length > 0) {
  console.error(`These are exported, and their comment has no sentence for a user: ${silent.join(', ')}`)
  process.exitCode = 1
}
