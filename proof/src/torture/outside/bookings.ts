// The user's own table. Nothing in it keeps a booking from being there twice, or by halves.
import { sql } from 'kysely'
import type { SqlStore } from '../../../../packages/durably/dist/store/sql/sql-store.js'
import type { Place } from '../place.ts'

export interface BookingRow {
  run_id: string
  leg: string
  booked_by: string
}

export const LEGS = ['out', 'back'] as const

export async function createBookings({ store }: Place): Promise<void> {
  await sql`CREATE TABLE bookings (run_id TEXT NOT NULL, leg TEXT NOT NULL, booked_by TEXT NOT NULL)`.execute(store.db)
}

export async function readBookings({ db }: SqlStore): Promise<BookingRow[]> {
  return (await sql<BookingRow>`SELECT run_id, leg, booked_by FROM bookings`.execute(db)).rows
}
