// The engine on the app's database. Every role opens it; only a worker starts it.
import { createDurably, type Durably, type Plugin } from '@coji/durably'
import { postgres } from '@coji/durably/postgres'
import { sqlite } from '@coji/durably/sqlite'
import type { Config } from './config.ts'

/** A run that lost three workers without recording a new step in between is given up. */
const MAX_RECOVERIES = 2

export function openEngine({ databaseUrl, listenUrl, workerId, concurrency, leaseMs, pollMs }: Config): Durably {
  const durably = createDurably({
    dialect: databaseUrl.startsWith('file:')
      ? sqlite(databaseUrl.slice('file:'.length))
      : postgres(databaseUrl, listenUrl === undefined ? {} : { listenUrl }),
    staleThreshold: leaseMs,
    pollingInterval: pollMs,
    concurrency,
    maxRecoveries: MAX_RECOVERIES,
    ...(workerId !== null && { workerId }),
  })
  durably.use(keepWarnings())
  return durably
}

/** Warnings and errors that jobs log are stored with their runs. The rest of what happens is in the event log already. */
function keepWarnings(): Plugin {
  return {
    name: 'keep-warnings',
    install(host) {
      host.on('log:write', (event) => {
        const { runId, timestamp, stepName, level, message, data } = event
        if (level !== 'info') host.persistEvent(event, { runId, timestamp, stepName, level, message, data })
      })
    },
  }
}
