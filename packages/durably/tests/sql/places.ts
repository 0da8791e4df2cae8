// The two kinds of databases, for what must hold on both.
import { CompiledQuery, type Dialect } from 'kysely'
import { postgres } from '../../src/postgres/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { temporaryDatabase } from '../postgres/place.ts'
import { temporaryFile } from './place.ts'

export interface Place {
  name: string
  /** An empty database of its own. */
  dialect(): Promise<Dialect>
  /** The tables and indexes that are there. */
  names: string
}

export const PLACES: Place[] = [
  {
    name: 'SQLite',
    dialect: async () => sqlite(temporaryFile()),
    names: 'SELECT name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name',
  },
  {
    name: 'Postgres',
    dialect: async () => postgres(await temporaryDatabase()),
    names: `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname`,
  },
]

/** A statement of the test's own. */
export async function run({ db }: Pick<SqlStore, 'db'>, sql: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(sql))
  return rows as Record<string, unknown>[]
}
