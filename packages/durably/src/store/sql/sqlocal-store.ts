import { sqliteDatabase } from './dialect/sqlite/sqlite-database.ts'
import { sqlocalTransport } from './dialect/sqlite/sqlocal-transport.ts'
import type { OpenedSql, SqlStore } from './opened-sql.ts'
import { sqlChapters } from './sql-chapters.ts'

/** SQLite through SQLocal, whose tabs share a file. */
export function sqlocalStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, sqliteDatabase(opened, sqlocalTransport(opened)))
}
