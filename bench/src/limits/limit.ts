// Limit — something that must stay small however much there is. Each is measured on an empty store of its own.
import { type Dialect, sql } from 'kysely'
import { createDurably } from '../../../packages/durably/dist/index.js'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { onSqlite, type Place } from '../speed/place.ts'

export interface LimitedStore {
  place: Place
  eventLog: boolean
}

export interface Limit {
  title: string
  unit: string
  /** The figure must not be above it. */
  most: number
  /** Measured only where there is an event log. */
  needsEvents?: true
  measure(store: LimitedStore): Promise<number>
}

export type Engine = ReturnType<typeof createDurably>

export function dialectOf({ place }: LimitedStore): Dialect {
  return place.kind === 'postgres' ? postgres(place.url) : sqlite(onSqlite(place).file)
}

export async function openEngine(store: LimitedStore, concurrency: number): Promise<Engine> {
  const durably = createDurably({ dialect: dialectOf(store), eventLog: store.eventLog, concurrency, logger: false })
  await durably.migrate()
  return durably
}

/** As a database is that has been in use for a while: without statistics Postgres guesses. */
export async function analyse(durably: Engine): Promise<void> {
  await sql`ANALYZE`.execute(durably.db)
}

/** Resolves when so many runs have completed. */
export function completed(durably: Engine, runs: number): Promise<void> {
  return new Promise((resolve) => {
    let ended = 0
    const off = durably.on('run:complete', () => {
      if (++ended < runs) return
      off()
      resolve()
    })
  })
}
