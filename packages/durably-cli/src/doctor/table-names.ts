import { type RawBuilder, sql } from 'kysely'
import type { Place } from '../place.ts'

export type TableNames = (name: 'runs' | 'steps' | 'run_events' | 'logs' | 'schedules') => RawBuilder<unknown>

export function tableNames({ schema, tablePrefix = '' }: Pick<Place, 'schema' | 'tablePrefix'>): TableNames {
  return (name) => (schema === undefined ? sql.id(tablePrefix + name) : sql.id(schema, tablePrefix + name))
}
