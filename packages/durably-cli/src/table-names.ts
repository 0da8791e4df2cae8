import { type RawBuilder, sql } from 'kysely'
import type { Place } from './place.ts'

export type TableNames = (name: 'runs' | 'steps' | 'run_events' | 'logs' | 'schedules' | 'signals') => RawBuilder<unknown>

export function tableNames({ schema, tablePrefix = '' }: Pick<Place, 'schema' | 'tablePrefix'>): TableNames {
  return (name) => (schema === undefined ? sql.id(tablePrefix + name) : sql.id(schema, tablePrefix + name))
}

/** Without it SQLite may choose an index by which it reads all runs of a status; Postgres knows its tables, and has no words for it. */
export function by({ kind, tablePrefix = '' }: Pick<Place, 'kind' | 'tablePrefix'>, index: string): RawBuilder<unknown> {
  return kind === 'sqlite' ? sql`INDEXED BY ${sql.id(tablePrefix + index)}` : sql``
}
