import { type Kysely, PostgresAdapter } from 'kysely'

export type DatabaseKind = 'postgres' | 'sqlite'

export function kindOf<T>(db: Kysely<T>): DatabaseKind {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
}
