import type { OpenedSql, SqlStore } from '../open-sql.ts'
import { sqlChapters } from '../shared/sql-chapters.ts'
import { sqliteDatabase } from './database.ts'
import { sqlocalTransport } from './transport/sqlocal-transport.ts'

/** SQLite through SQLocal, whose tabs share a file. */
export function sqlocalStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, sqliteDatabase(opened, sqlocalTransport(opened)))
}
