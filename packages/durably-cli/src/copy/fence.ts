// Takes live runs, schedules and events away from the workers of the source.
//   F1. In one transaction the row of a run is kept in `moved_rows`, gets a new lease generation and ends as cancelled: its owner's next write is refused, and
//       nobody claims it again. So at no time two databases have the run alive, and after a crash the kept row is still there to be copied.
//   F2. Schedules are paused in the same way, and events that were not delivered count as delivered. They come before the runs, so that they make no new ones.
import { sql } from 'kysely'
import { writeSqlite } from '../sqlite-write.ts'
import type { Row } from './row.ts'
import type { Database } from './tables.ts'

export interface Moved {
  id: string
  row: Row
}

export async function prepareFence(db: Database): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS moved_rows (kind TEXT NOT NULL, id TEXT NOT NULL, "row" TEXT NOT NULL, PRIMARY KEY (kind, id))`.execute(
    db,
  )
}

/** Fences up to `limit` live runs; returns how many. */
export function fenceRuns(db: Database, target: string, nowMs: number, limit: number): Promise<number> {
  return writeSqlite(db, async (connection) => {
    const { rows } = await sql<Row>`SELECT * FROM runs WHERE status IN ('pending', 'running') ORDER BY id LIMIT ${limit}`.execute(
      connection,
    )
    for (const row of rows) {
      await keep(connection, 'run', row)
      await sql`UPDATE runs SET status = 'cancelled', lease_owner = NULL, lease_expires_at = NULL, lease_generation = lease_generation + 1,
        assigned_worker_id = NULL, assigned_at = NULL, continuation_state = NULL, continuation_check_deadline_at = NULL,
        version = version + 1, finished_at = ${nowMs}, error = ${`moved to ${target}`}, updated_at = ${new Date(nowMs).toISOString()} WHERE id = ${row.id}`.execute(
        connection,
      )
    }
    return rows.length
  })
}

/** What would make new runs in the source: schedules, and events that were not delivered. */
export function fenceSources(db: Database, nowMs: number): Promise<void> {
  return writeSqlite(db, async (connection) => {
    const isNew = (kind: string) => sql`id NOT IN (SELECT id FROM moved_rows WHERE kind = ${kind})`
    const schedules = await sql<Row>`SELECT * FROM schedules WHERE ${isNew('schedule')}`.execute(connection)
    for (const row of schedules.rows) await keep(connection, 'schedule', row)
    await sql`UPDATE schedules SET paused = 1, version = version + 1 WHERE paused = 0`.execute(connection)
    const events = await sql<Row>`SELECT * FROM inbox WHERE processed_at IS NULL`.execute(connection)
    for (const row of events.rows) await keep(connection, 'event', row)
    await sql`UPDATE inbox SET processed_at = ${nowMs} WHERE processed_at IS NULL`.execute(connection)
  })
}

export async function movedRows(db: Database, kind: 'run' | 'schedule' | 'event', after: string, limit: number): Promise<Moved[]> {
  const { rows } = await sql<{
    id: string
    row: string
  }>`SELECT id, "row" FROM moved_rows WHERE kind = ${kind} AND id > ${after} ORDER BY id LIMIT ${limit}`.execute(db)
  return rows.map(({ id, row }) => ({ id, row: JSON.parse(row) as Row }))
}

async function keep(connection: Database, kind: string, row: Row): Promise<void> {
  await sql`INSERT INTO moved_rows (kind, id, "row") VALUES (${kind}, ${row.id}, ${JSON.stringify(row)})`.execute(connection)
}
