import type { OpenedSql, SqlStore } from '../open-sql.ts'
import { sqlChapters } from '../shared/sql-chapters.ts'
import { sqliteDatabase } from './database.ts'
import { foreignTransport } from './transport/foreign-transport.ts'

/** SQLite through any other driver. */
export function foreignSqliteStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, sqliteDatabase(opened, foreignTransport(opened)))
}
