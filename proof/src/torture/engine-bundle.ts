// One file with all that a worker needs of the engine. Loading it takes a twentieth of the time that the engine's and
// Kysely's many files take: a killed worker is back at once, and the machine's time goes into the runs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'
import { REPO } from '../engine-build.ts'

type Root = typeof import('../../../packages/durably/dist/index.js')
type Sqlite = typeof import('../../../packages/durably/dist/sqlite/index.js')
type Postgres = typeof import('../../../packages/durably/dist/postgres/index.js')
type Plugins = typeof import('../../../packages/durably/dist/plugins/index.js')

/** What the bundle exports, under the names that the engine's own files have. */
export type WorkerEngine = Pick<Root, 'createDurably' | 'emptyRunView' | 'reduceRun' | 'retry'> &
  Pick<Sqlite, 'sqlite'> &
  Pick<Postgres, 'postgres'> &
  Pick<Plugins, 'withLogPersistence'>

const EXPORTS = {
  createDurably: 'index.js',
  emptyRunView: 'index.js',
  reduceRun: 'index.js',
  retry: 'index.js',
  sqlite: 'sqlite/index.js',
  postgres: 'postgres/index.js',
  withLogPersistence: 'plugins/index.js',
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
