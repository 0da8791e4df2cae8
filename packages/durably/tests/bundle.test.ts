// What a browser loads: how large it is, and that nothing in it is Node's.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** What comes before anything else is done: to make an instance, to define jobs. */
const FIRST_BYTES_MAX = 20_000
/** With what a page fetches later that keeps its runs in SQLite (`browserDialect`) and executes them. It shall not grow unnoticed. */
const SQLITE_PAGE_BYTES_MAX = 47_500
/** The migrations: a page fetches them when it creates its tables, and then not again until the schema has a new version. */
const MIGRATIONS_BYTES_MAX = 3500
const MIGRATIONS = /apply-migrations/
/**
 * Of the files that are loaded lazily: other databases and drivers, and what a page never asks for that calls `start()` and whose jobs call only
 * `ctx.run`, `ctx.sleep`, `ctx.progress` and `ctx.log`, and lists of runs, of steps and of log lines, labels, counts, purges, archives, taking back lost runs, commands such as
 * `cancel`, runs with keys, labels, deadlines or parents, signals, schedules, log lines that a plugin stores, deadlines and timeouts, and what is said after a clock was wrong (ADR 0009).
 */
const NOT_FOR_EVERY_PAGE =
  /postgres|sqlocal|foreign|stream|other-steps|user-transactions|processing|capabilities|explain|health|trouble-log|process\/attend|run-query|run-rows|run-list-watcher|many-runs|rare-queries|signals|log-line-writer|shared\/logs|worker\/limits|archive|tidying|run-commands|create-known|cluster/
/** Node's are left in sight, to be found. */
const EXTERNAL = [/^node:/, /^kysely/, 'zod', /^@sqlite\.org/]
/** The rest is for servers and tests. */
const FOR_BROWSERS = ['.', './plugins', './memory', './tasks', './client', './browser']

const ENTRY = '\0entry'
/** Vite puts some code of its own before each `import()`, for style sheets. */
const PRELOAD = '\0vite/preload-helper.js'

const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { exports: Record<string, { default: string }> }

async function bundle(code: string, preserveEntrySignatures: 'strict' | false = 'strict'): Promise<Rolldown.OutputChunk[]> {
  const result = await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    plugins: [
      { name: 'entry', resolveId: (id) => (id === ENTRY ? id : null), load: (id) => (id === ENTRY ? code : null) },
      { name: 'bare import()', enforce: 'pre', load: (id) => (id === PRELOAD ? 'export const __vitePreload = (load) => load()' : null) },
    ],
    build: {
      write: false,
      target: 'esnext',
      modulePreload: false,
      rollupOptions: { input: ENTRY, external: EXTERNAL, preserveEntrySignatures },
    },
  })
  const outputs = (Array.isArray(result) ? result : [result]) as Rolldown.RolldownOutput[]
  return outputs.flatMap(({ output }) => output.filter((one) => one.type === 'chunk'))
}

const sourceOf = (target: string) => `${ROOT}${target.replace('./dist/', 'src/').replace(/\.js$/, '.ts')}`

/** These, and what they need before they run. */
function withImports(chunks: readonly Rolldown.OutputChunk[], fileNames: readonly string[]): Set<Rolldown.OutputChunk> {
  const found = new Set<Rolldown.OutputChunk>()
  const open = [...fileNames]
  for (let name = open.pop(); name; name = open.pop()) {
    const chunk = chunks.find(({ fileName }) => fileName === name)
    if (!chunk || found.has(chunk)) continue
    found.add(chunk)
    open.push(...chunk.imports)
  }
  return found
}

function gzippedBytes(chunks: Iterable<Rolldown.OutputChunk>): number {
  return Array.from(chunks).reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0)
}

function largest(chunks: Iterable<Rolldown.OutputChunk>): string {
  const files = Array.from(chunks, ({ modules }) => Object.entries(modules)).flat()
  const sizes = files.map(([id, { renderedLength }]) => [relative(ROOT, id), renderedLength] as const).sort(([, a], [, b]) => b - a)
  return `bytes; the largest files before minifying: ${sizes.slice(0, 20).map(([id, length]) => `${id} ${length}`)}`
}

test('createDurably with its jobs is small, and so is a page that executes them', async () => {
  const chunks = await bundle(
    `import { createDurably } from '${sourceOf('./dist/index.js')}'\nglobalThis.made = createDurably(globalThis.options)`,
    false,
  )
  const [entry = ''] = chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName)
  const lazy = chunks.filter(({ isDynamicEntry }) => isDynamicEntry)
  const forEveryPage = lazy.filter(({ facadeModuleId }) => !NOT_FOR_EVERY_PAGE.test(relative(ROOT, facadeModuleId ?? '')))
  const first = withImports(chunks, [entry])
  const firstVisit = withImports(chunks, [entry, ...forEveryPage.map(({ fileName }) => fileName)])
  const atEveryVisit = forEveryPage.filter(({ facadeModuleId }) => !MIGRATIONS.test(facadeModuleId ?? ''))
  const page = withImports(chunks, [entry, ...atEveryVisit.map(({ fileName }) => fileName)])
  console.log(
    `createDurably: ${gzippedBytes(first)} bytes minified and gzipped, without kysely and zod; ` +
      `with the store for SQLite and the worker, loaded when needed: ${gzippedBytes(page)}, and on the first visit ${gzippedBytes(firstVisit)}; ` +
      `with all that some pages need: ${gzippedBytes(chunks)}`,
  )
  expect(gzippedBytes(first), largest(first)).toBeLessThanOrEqual(FIRST_BYTES_MAX)
  expect(gzippedBytes(page), largest(page)).toBeLessThanOrEqual(SQLITE_PAGE_BYTES_MAX)
  expect(gzippedBytes(firstVisit) - gzippedBytes(page), 'the migrations').toBeLessThanOrEqual(MIGRATIONS_BYTES_MAX)
})

test.each(FOR_BROWSERS.flatMap((name) => (exports[name] ? [[name, exports[name].default]] : [])))(
  '%s pulls nothing of Node into a browser',
  async (_, target = '') => {
    const chunks = await bundle(`export * from '${sourceOf(target)}'`)
    const imports = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    expect(imports.filter((name) => name.startsWith('node:'))).toEqual([])
    expect(chunks.map(({ code }) => code).join()).not.toMatch(/__vite-browser-external|\brequire\(/)
  },
)
