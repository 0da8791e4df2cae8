// MemoryStore — the store for tests, for simulation, and for runs that need not outlive their process.
import { type Env, systemEnv } from '../../model/env.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import { lazyVerbs, once } from '../../model/lazy.ts'
import type { Store } from '../store.ts'
import { memoryArchive } from './archive.ts'
import { memoryEvents } from './events.ts'
import { memoryCluster } from './lazy-cluster.ts'
import { memoryLogs } from './logs.ts'
import { memoryRuns } from './runs.ts'
import { memorySignals } from './signals.ts'
import { memorySteps } from './steps.ts'
import { Tables } from './tables.ts'

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The source of time; give the same one to `createDurably`. Default: that of the system. */
  env?: Env
  /** False keeps no events: less memory, and `subscribe` is not possible. Default true. */
  eventLog?: boolean
  /** False keeps no stacks of errors: a failing attempt then costs about half. Default true. */
  errorStacks?: boolean
  /** How many ended runs are kept; beyond that the oldest are removed at once. Default: all. */
  endedMax?: number
}

const MEMORY_OPTIONS: KeysOf<MemoryStoreOptions> = { env: 1, eventLog: 1, errorStacks: 1, endedMax: 1 }

/**
 * Keeps runs in memory.
 *
 * @example const durably = createDurably({ store: memoryStore() })
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkKeys('memoryStore', options, MEMORY_OPTIONS, 'invalid_config')
  const { env = systemEnv(), eventLog = true, errorStacks = true, endedMax = Number.POSITIVE_INFINITY } = options
  const tables = new Tables(env, { eventLog, endedMax })
  return {
    runs: memoryRuns(tables),
    steps: memorySteps(tables),
    events: memoryEvents(tables),
    logs: memoryLogs(tables),
    signals: memorySignals(tables),
    cluster: lazyVerbs(once(async () => (await memoryCluster(env))(tables))),
    archive: memoryArchive(tables),
    eventLog,
    errorStacks,
    async migrate() {},
    async close() {},
  }
}
