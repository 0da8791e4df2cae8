// One file with all that a worker needs of the engine. Loading it takes a twentieth of the time that the engine's and
// Kysely's many files take: a killed worker is back at once, and the machine's time goes into the runs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'
import { REPO } from '../engine-build.ts'

/** What the bundle exports, under the names that the engine's own files have. */
export interface WorkerEngine {
  createDurably: typeof import('../../../packages/durably/dist/durably.js')['createDurably']
  sqlite: typeof import('../../../packages/durably/dist/sqlite/index.js')['sqlite']
  postgres: typeof import('../../../packages/durably/dist/postgres/index.js')['postgres']
}

const EXPORTS = {
  createDurably: 'durably.js',
  sqlite: 'sqlite/index.js',
  postgres: 'postgres/index.js',
} satisfies Record<keyof WorkerEngine, string>
/** Inside the repository, so that the drivers, which are not bundled, are found. */
const BUNDLES = join(REPO, '.tmp')
const DRIVERS = ['@photostructure/sqlite', 'pg']

export interface EngineBundle {
  url: string
  remove(): void
}

export async function bundleEngine(dist: string): Promise<EngineBundle> {
  mkdirSync(BUNDLES, { recursive: true })
  const folder = mkdtempSync(join(BUNDLES, 'torture-'))
  const entry = join(folder, 'entry.js')
  const lines = Object.entries(EXPORTS).map(([name, file]) => `export { ${name} } from ${JSON.stringify(join(dist, file))}`)
  writeFileSync(entry, lines.join('\n'))
  await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: DRIVERS },
    build: { ssr: entry, outDir: folder, emptyOutDir: false, minify: false, rollupOptions: { output: { entryFileNames: 'engine.js' } } },
  })
  return { url: pathToFileURL(join(folder, 'engine.js')).href, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
