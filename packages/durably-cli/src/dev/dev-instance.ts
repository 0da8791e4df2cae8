import { createDurably, type Durably, systemEnv } from '@coji/durably'
import { withLogPersistence } from '@coji/durably/plugins'
import { sqlite } from '@coji/durably/sqlite'
import type { DevClock } from './clock.ts'
import { type Slowness, slowDialect } from './slow-dialect.ts'

/** Short, so that nobody waits long for the run of a worker that was killed; long enough for a slow database. */
export const DEV_LEASE_MS = 2500
const POLLING_MS = 200

export interface DevInstanceOptions {
  database: string
  clock: DevClock
  slowness: Slowness
  concurrency?: number
}

/** An instance of one of the processes of `durably dev`. */
export function devInstance({ database, clock, slowness, concurrency = 1 }: DevInstanceOptions): Durably {
  const durably = createDurably({
    dialect: slowDialect(sqlite(database, { durability: 'relaxed' }), slowness),
    env: systemEnv(clock.now),
    staleThreshold: DEV_LEASE_MS,
    pollingInterval: POLLING_MS,
    concurrency,
  })
  return durably.use(withLogPersistence())
}
