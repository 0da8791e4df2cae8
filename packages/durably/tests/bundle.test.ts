// What a browser loads: how large it is, and that nothing in it is Node's.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** The aim is 20 kB; until then it shall at least not grow unnoticed. */
const GZIPPED_BYTES_MAX = 48_000
/** Node's are left in sight, to be found. */
const EXTERNAL = [/^node:/, /^kysely/, 'zod', /^@sqlite\.org/]
/** The rest is for servers and tests. */
const FOR_BROWSERS = ['.', './plugins', './memory', './tasks', './client', './browser']

const ENTRY = '\0entry'

const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { exports: Record<string, { default: string }> }

async function bundle(code: string): Promise<Rolldown.OutputChunk[]> {
  const result = await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    plugins: [{ name: 'entry', resolveId: (id) => (id === ENTRY ? id : null), load: (id) => (id === ENTRY ? code : null) }],
    build: {
      write: false,
      target: 'esnext',
      modulePreload: false,
      rollupOptions: { input: ENTRY, external: EXTERNAL, preserveEntrySignatures: 'strict' },
    },
  })
  const outputs = (Array.isArray(result) ? result : [result]) as Rolldown.RolldownOutput[]
  return outputs.flatMap(({ output }) => output.filter((one) => one.type === 'chunk'))
}

const sourceOf = (target: string) => `${ROOT}${target.replace('./dist/', 'src/').replace(/\.js$/, '.ts')}`

test('createDurably with its jobs is small', async () => {
  const chunks = await bundle(`export { createDurably } from '${sourceOf('./dist/index.js')}'`)
  const bytes = chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0)
  const largest = chunks
    .flatMap(({ modules }) => Object.entries(modules))
    .map(([id, { renderedLength }]) => [relative(ROOT, id), renderedLength] as const)
    .sort(([, a], [, b]) => b - a)
  console.log(`createDurably: ${bytes} bytes minified and gzipped, without kysely and zod`)
  expect(
    bytes,
    `bytes; the largest files before minifying: ${largest.slice(0, 20).map(([id, length]) => `${id} ${length}`)}`,
  ).toBeLessThanOrEqual(GZIPPED_BYTES_MAX)
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
