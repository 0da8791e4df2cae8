// The table of a user that `ctx.transaction` writes: two rows for each booking, so that half of one shows.
import { type Kysely, type QueryCreator, sql } from 'kysely'
import type { SqlStore } from '../../store/sql/sql-store.ts'
import type { Booking } from '../invariants/index.ts'

interface BookingTables {
  bookings: { run_id: string; step: string; side: string }
}

const SIDES = ['debit', 'credit'] as const

export async function createBookings(db: SqlStore['db']): Promise<void> {
  await sql`CREATE TABLE bookings (run_id TEXT NOT NULL, step TEXT NOT NULL, side TEXT NOT NULL)`.execute(db)
}

/** `between`: what happens between its two rows. */
export async function book(trx: unknown, { runId, step }: Booking, between: () => Promise<void>): Promise<void> {
  const db = trx as QueryCreator<BookingTables>
  for (const side of SIDES) {
    if (side !== SIDES[0]) await between()
    await db.insertInto('bookings').values({ run_id: runId, step, side }).execute()
  }
}

export async function readBookings(db: SqlStore['db']): Promise<Booking[]> {
  const rows = await (db as unknown as Kysely<BookingTables>).selectFrom('bookings').selectAll().execute()
  return rows.map(({ run_id, step }) => ({ runId: run_id, step }))
}
