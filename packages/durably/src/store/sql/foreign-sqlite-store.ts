import { foreignTransport } from './dialect/sqlite/foreign-transport.ts'
import { sqliteDatabase } from './dialect/sqlite/sqlite-database.ts'
import type { OpenedSql, SqlStore } from './opened-sql.ts'
import { sqlChapters } from './sql-chapters.ts'

/** SQLite through any other driver. */
export function foreignSqliteStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, sqliteDatabase(opened, foreignTransport(opened)))
}
