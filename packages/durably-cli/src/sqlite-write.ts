import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'

/** A worker that writes holds the file for a moment, again and again. */
const BUSY_MS_MAX = 10_000
const PAUSE_MS = 10
const BUSY = /SQLITE_BUSY|database is locked/

/** One transaction of a SQLite file that has the write lock from its beginning; it waits while others write. */
export function writeSqlite<T>(db: Kysely<unknown>, work: (connection: Kysely<unknown>) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await begin(connection)
    try {
      const done = await work(connection)
      await sql`COMMIT`.execute(connection)
      return done
    } catch (error) {
      await sql`ROLLBACK`.execute(connection)
      throw error
    }
  })
}

async function begin(connection: Kysely<unknown>): Promise<void> {
  const end = performance.now() + BUSY_MS_MAX
  for (;;) {
    try {
      await sql`BEGIN IMMEDIATE`.execute(connection)
      return
    } catch (error) {
      if (!BUSY.test(String(error)) || performance.now() > end) throw error
      await pause(PAUSE_MS)
    }
  }
}
