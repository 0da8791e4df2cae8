import type { OpenedSql, SqlStore } from '../open-sql.ts'
import { sqlChapters } from '../shared/sql-chapters.ts'
import { sqliteDatabase } from './database.ts'
import { kyselyTransport } from './transport/kysely-transport.ts'

/** SQLite through a driver that its dialect vouches for, as `sqlite()` does. */
export function sqliteStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, sqliteDatabase(opened, kyselyTransport(opened.db, opened.dialect)))
}
