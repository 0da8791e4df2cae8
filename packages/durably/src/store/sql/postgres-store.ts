import { postgresDatabase } from './dialect/postgres/postgres-database.ts'
import type { OpenedSql, SqlStore } from './opened-sql.ts'
import { sqlChapters } from './sql-chapters.ts'

export function postgresStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, postgresDatabase(opened))
}
