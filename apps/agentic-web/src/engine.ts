// The engine on the app's database. Every role opens it; only a worker starts it.
import { createDurably, type Durably } from '@coji/durably'
import { postgres } from '@coji/durably/postgres'
import { sqlite } from '@coji/durably/sqlite'
import type { Config } from './config.ts'

/** A run that lost three workers without recording a new step in between is given up. */
const MAX_RECOVERIES = 2

export function openEngine({ databaseUrl, workerId, concurrency, leaseMs, pollMs }: Config): Durably {
  return createDurably({
    dialect: databaseUrl.startsWith('file:') ? sqlite(databaseUrl.slice('file:'.length)) : postgres(databaseUrl),
    staleThreshold: leaseMs,
    pollingInterval: pollMs,
    concurrency,
    maxRecoveries: MAX_RECOVERIES,
    ...(workerId !== null && { workerId }),
  })
}
