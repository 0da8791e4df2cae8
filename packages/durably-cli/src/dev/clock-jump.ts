// Moves the clock of all processes on, in one transaction of the database.
//   J1. Leases move with the clock, so a run that executes keeps its lease.
//   J2. A process may have asked for the time before the jump, and write a lease after it. Such a lease ends before the time that the clock jumped to, as
//       none does that was made after the jump. A trigger moves it as well.
//   J3. The time in the file changes while the transaction holds the write lock: no lease is written between the two.
import type { Durably } from '@coji/durably'
import { type Kysely, sql } from 'kysely'
import { writeSqlite } from '../sqlite-write.ts'
import { untypedDb } from '../untyped-db.ts'
import type { DevClock } from './clock.ts'

export function jump(durably: Durably, clock: DevClock, byMs: number): Promise<void> {
  return writeSqlite(untypedDb(durably), async (connection) => {
    await moveLeases(connection, byMs)
    const offsetMs = clock.offsetMs + byMs
    await sql`UPDATE dev_clock SET jumped_to = ${Date.now() + offsetMs}, by_ms = ${byMs}`.execute(connection)
    clock.set(offsetMs)
  })
}

/** Once, when the tables are there. */
export function prepareJumps(durably: Durably): Promise<void> {
  return writeSqlite(untypedDb(durably), async (connection) => {
    await sql`CREATE TABLE IF NOT EXISTS dev_clock (id INTEGER PRIMARY KEY CHECK (id = 1), jumped_to INTEGER NOT NULL, by_ms INTEGER NOT NULL)`.execute(
      connection,
    )
    await sql`INSERT OR IGNORE INTO dev_clock (id, jumped_to, by_ms) VALUES (1, 0, 0)`.execute(connection)
    await sql`CREATE TRIGGER IF NOT EXISTS dev_clock_leases AFTER UPDATE OF lease_expires_at ON runs
      WHEN NEW.lease_expires_at < (SELECT jumped_to FROM dev_clock)
      BEGIN UPDATE runs SET lease_expires_at = NEW.lease_expires_at + (SELECT by_ms FROM dev_clock) WHERE id = NEW.id; END`.execute(
      connection,
    )
  })
}

/** The trigger sleeps meanwhile: a lease that was over before stays over by as much. */
async function moveLeases(connection: Kysely<unknown>, byMs: number): Promise<void> {
  await sql`UPDATE dev_clock SET jumped_to = 0`.execute(connection)
  await sql`UPDATE runs SET lease_expires_at = lease_expires_at + ${byMs} WHERE status = 'running'`.execute(connection)
  await sql`UPDATE leaders SET expires_at = expires_at + ${byMs}`.execute(connection)
  await sql`UPDATE workers SET expires_at = expires_at + ${byMs}, heartbeat_at = heartbeat_at + ${byMs}`.execute(connection)
}
