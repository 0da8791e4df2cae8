// The code in the docs is compiled and run. On each page the ```ts blocks are one program in their order; a block that imports
// `createDurably` begins the next one. ```output is what the program prints. `<!-- ts … -->` belongs to the program and is not shown: it
// may check and clean up, but what a reader copies must compile, run and end without it.
// A ```ts fragment is only compiled, by itself. A ```ts postgres block belongs to a program that finds an empty database at DATABASE_URL.
// With ```tsx a program has JSX.
// Durably logs runs that fail. A program that shows such runs names their jobs: `<!-- fails: sync, pay -->`.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { createDatabase } from './postgres/place.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Inside the repository, so that packages are found; ignored by git. */
const BUILD = join(ROOT, '.tmp/docs')
const BEGINS = /^import .*\bcreateDurably\b/m
const BLOCK =
  /^```(tsx?)( fragment| postgres)?\n([\s\S]*?)^```$|^<!-- ts\n([\s\S]*?)^-->$|^```output\n([\s\S]*?)^```$|^<!-- fails: (.*) -->$/gm

const FAILURE = /^durably: (?:step .* of )?run \w+ of job "(.*?)" failed.*\n/gm

interface Program {
  name: string
  extension: string
  code: string
  /** What a reader sees of it. */
  shown: string
  prints: string | null
  /** The jobs that fail in it, sorted. */
  fails: string[]
  runs: boolean
  onPostgres: boolean
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function pagesIn(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder)).filter((file) => file.endsWith('.md'))
  return files.map((file) => join(folder, file))
}

function programsOf(page: string): Program[] {
  const programs: Program[] = []
  const begin = (runs: boolean): Program => {
    const program = {
      name: `${page.replaceAll(/\W+/g, '-')}-${programs.length + 1}`,
      extension: 'ts',
      code: '',
      shown: '',
      prints: null,
      fails: [],
      runs,
      onPostgres: false,
    }
    programs.push(program)
    return program
  }
  let current: Program | undefined
  for (const [, extension, kind, shown, hidden, output, fails] of read(page).matchAll(BLOCK)) {
    const code = shown ?? hidden ?? ''
    if (kind === ' fragment') Object.assign(begin(false), { code, shown: code, extension })
    else if (fails !== undefined) {
      if (current) current.fails = fails.split(', ').sort()
    } else if (output === undefined) {
      if (!current || BEGINS.test(code)) current = begin(true)
      current.code += `${code}\n`
      if (shown !== undefined) current.shown += `${code}\n`
      if (extension === 'tsx') current.extension = extension
      if (kind === ' postgres') current.onPostgres = true
    } else if (current) current.prints = (current.prints ?? '') + output
  }
  return programs
}

function execute(args: string[], cwd: string, env = process.env): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    ),
  )
}

const readmes = ['durably', 'durably-react', 'durably-cli', 'durably-ui'].map((name) => `packages/${name}/README.md`)
const pages = ['README.md', 'README.ja.md', ...readmes, ...pagesIn('docs/guides')]
const programs = pages.flatMap(programsOf)

describe('code in the docs', () => {
  let compiled: { code: number; stdout: string }

  beforeAll(async () => {
    rmSync(BUILD, { recursive: true, force: true })
    mkdirSync(BUILD, { recursive: true })
    const compilerOptions = {
      composite: false,
      declaration: false,
      jsx: 'react-jsx',
      outDir: 'out',
      rootDir: '.',
      noUnusedLocals: false,
      noUnusedParameters: false,
    }
    // What a reader is likely to have; the repository itself is stricter.
    const options = { ...compilerOptions, exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false }
    writeFileSync(join(BUILD, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.base.json', compilerOptions: options }))
    const write = (name: string, code: string) => writeFileSync(join(BUILD, name), `${code}\nexport {}\n`)
    for (const { name, extension, code, shown } of programs) {
      write(`${name}.${extension}`, code)
      write(`${name}-shown.${extension}`, shown)
    }
    compiled = await execute([join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', BUILD], BUILD)
  }, 120_000)

  test('compiles', () => {
    expect(compiled).toMatchObject({ code: 0, stdout: '' })
  })

  /** In an empty folder; nothing but the failures that the page names may be written to stderr. */
  async function run({ name, fails, onPostgres }: Program): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'durably-docs-'))
    const database = onPostgres ? await createDatabase() : undefined
    try {
      const env = { ...process.env, ...(database && { DATABASE_URL: database.url }) }
      const { code, stdout, stderr } = await execute(['--no-warnings', join(BUILD, `out/${name}.js`)], folder, env)
      const failed = new Set(Array.from(stderr.matchAll(FAILURE), ([, job]) => job))
      expect({ code, stderr: stderr.replaceAll(FAILURE, ''), fails: [...failed].sort() }).toStrictEqual({ code: 0, stderr: '', fails })
      return stdout
    } finally {
      await database?.drop()
      rmSync(folder, { recursive: true, force: true })
    }
  }

  test.concurrent.each(programs.filter(({ runs }) => runs))('$name runs and prints what it says', { timeout: 90_000 }, async (program) => {
    const stdout = await run(program)
    if (program.prints !== null) expect(stdout.trimEnd()).toBe(program.prints.trimEnd())
  })

  const withHiddenCode = programs.filter(({ runs, code, shown }) => runs && shown !== code)
  test.concurrent.each(withHiddenCode)('what a reader sees of $name runs and ends by itself', { timeout: 90_000 }, async ({ name }) => {
    const folder = mkdtempSync(join(tmpdir(), 'durably-docs-'))
    try {
      const { code, stderr } = await execute(['--no-warnings', join(BUILD, `out/${name}-shown.js`)], folder)
      expect(code, stderr).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('few blocks are only compiled', () => {
    expect(programs.filter(({ runs }) => !runs).length).toBeLessThanOrEqual(pages.length)
  })
})

test('both READMEs link to the same pages', () => {
  const linksOf = (page: string) =>
    Array.from(read(page).matchAll(/\]\(([^)]+)\)/g), ([, target]) => target).filter((target) => !target?.startsWith('README'))
  expect(linksOf('README.ja.md').sort()).toStrictEqual(linksOf('README.md').sort())
})

test('the reference page is what the source says, with a sentence about everything', { timeout: 90_000 }, async () => {
  const { code, stderr } = await execute([join(ROOT, 'reference/dist/reference.js'), '--check'], ROOT)
  expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
})

test('every guide is reachable from Getting started', () => {
  const linked = new Set(Array.from(read('docs/guides/getting-started.md').matchAll(/\]\(([\w-]+\.md)/g), ([, target]) => target))
  const unlinked = pagesIn('docs/guides')
    .map((page) => basename(page))
    .filter((page) => page !== 'getting-started.md' && !linked.has(page))
  expect(unlinked).toStrictEqual([])
})

test('every link between pages leads somewhere', () => {
  const folders = ['.', 'docs', 'docs/guides', 'docs/adr', 'examples', 'examples/spa']
  const broken = folders.flatMap(pagesIn).flatMap((page) =>
    Array.from(read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g), ([, target = '']) => target)
      .filter((target) => !existsSync(join(ROOT, dirname(page), target)))
      .map((target) => `${basename(page)} → ${target}`),
  )
  expect(broken).toStrictEqual([])
})

test('every link to a heading finds it', () => {
  const anchorsOf = (page: string) =>
    Array.from(read(page).matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
  const broken = ['.', 'docs', 'docs/guides', 'docs/adr', 'examples'].flatMap(pagesIn).flatMap((page) =>
    Array.from(read(page).matchAll(/\]\((?!https?:)([\w./-]*\.md)?#([^)\s]+)\)/g), ([, target, anchor = '']) => ({ target, anchor }))
      .filter(({ target, anchor }) => !anchorsOf(target ? join(dirname(page), target) : page).includes(anchor))
      .map(({ target = '', anchor }) => `${basename(page)} → ${target}#${anchor}`),
  )
  expect(broken).toStrictEqual([])
})

test('no page holds the marks of an unresolved merge', () => {
  const pages = ['.', 'docs', 'docs/guides', 'docs/adr'].flatMap(pagesIn)
  expect(pages.filter((page) => /^(<{7}|>{7}) /m.test(read(page)))).toStrictEqual([])
})

test('every file that a page names exists', () => {
  const readersOwn = ['app.ts', 'worker.ts', 'instrumentation.ts', 'lib/durably.ts']
  const folders = [
    'packages/durably',
    'packages/durably-react/src',
    'packages/durably-cli/src',
    'packages/durably-ui/src',
    'proof/src',
    ...['src', 'tests', 'accept', 'ui/src', 'ui/tests'].map((folder) => `apps/agentic-web/${folder}`),
    'examples',
    'docs',
  ]
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join('/', folder, file)),
  )
  const named = ['.', 'docs', 'docs/guides', 'docs/adr']
    .flatMap(pagesIn)
    .filter((page) => page !== 'CHANGELOG.md')
    .flatMap((page) =>
      // `NNNN-…` stands for a number.
      Array.from(read(page).matchAll(/`([\w./-]+\.tsx?)`/g), ([, path = '']) => ({ page, path })).filter(
        ({ path }) => !path.includes('NNNN') && !readersOwn.includes(path),
      ),
    )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(({ path }) => !files.some((file) => file.endsWith(`/${path}`)))).toStrictEqual([])
})
