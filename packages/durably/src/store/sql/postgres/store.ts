import type { OpenedSql, SqlStore } from '../open-sql.ts'
import { sqlChapters } from '../shared/sql-chapters.ts'
import { postgresDatabase } from './database.ts'

export function postgresStore(opened: OpenedSql): SqlStore {
  return sqlChapters(opened, postgresDatabase(opened))
}
