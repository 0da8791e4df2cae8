// Which build of the engine is put to the proof: the real one, or a copy with a mutation in it.
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const REPO = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
export const ENGINE_DIST = join(REPO, 'packages', 'durably', 'dist')

export interface Engine {
  simulate: typeof import('../../packages/durably/dist/testing/simulator/simulate.js')['simulate']
  shrink: typeof import('../../packages/durably/dist/testing/simulator/shrink.js')['shrink']
  sqlStore: typeof import('../../packages/durably/dist/store/sql/sql-store.js')['sqlStore']
  sqlWorlds: typeof import('../../packages/durably/dist/testing/simulator/sql-worlds.js')['sqlWorlds']
  sqlite: typeof import('../../packages/durably/dist/sqlite/index.js')['sqlite']
}

export async function loadEngine(dist: string): Promise<Engine> {
  // Stacks of errors name the files of this machine, and take long to write, so they are not kept: a seed must give the same result everywhere.
  Error.stackTraceLimit = 0
  const load = (path: string) => loadFrom(dist, path)
  const { simulate } = await load('testing/simulator/simulate.js')
  const { shrink } = await load('testing/simulator/shrink.js')
  const { sqlStore } = await load('store/sql/sql-store.js')
  const { sqlWorlds } = await load('testing/simulator/sql-worlds.js')
  const { sqlite } = await load('sqlite/index.js')
  return { simulate, shrink, sqlStore, sqlWorlds, sqlite }
}

/** What kinds of worlds a seed makes. */
export function loadWorldKinds(dist: string): Promise<typeof import('../../packages/durably/dist/testing/simulator/world-kinds.js')> {
  return loadFrom(dist, 'testing/simulator/world-kinds.js')
}

function loadFrom(dist: string, path: string) {
  return import(pathToFileURL(join(dist, path)).href)
}
