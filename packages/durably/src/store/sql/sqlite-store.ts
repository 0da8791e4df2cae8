import { sqliteTransport } from './dialect/sqlite/open-session.ts'
import { sqliteDatabase } from './dialect/sqlite/sqlite-database.ts'
import type { OpenedSql, SqlStore } from './opened-sql.ts'
import { sqlChapters } from './sql-chapters.ts'

export function sqliteStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, sqliteDatabase(opened, sqliteTransport(opened)))
}
