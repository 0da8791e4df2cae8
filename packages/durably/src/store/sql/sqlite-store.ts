import { kyselyTransport } from './dialect/sqlite/kysely-transport.ts'
import { sqliteDatabase } from './dialect/sqlite/sqlite-database.ts'
import type { OpenedSql, SqlStore } from './opened-sql.ts'
import { sqlChapters } from './sql-chapters.ts'

/** SQLite through a driver that its dialect vouches for, as `sqlite()` does. */
export function sqliteStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, sqliteDatabase(opened, kyselyTransport(opened.db, opened.dialect)))
}
