// The labels that a list of runs asks for. The rows of a label have its runs in the order of the list.
import { type RawBuilder, sql } from 'kysely'
import type { RunQuery } from '../../runs.ts'
import type { Tables } from './schema.ts'

type Fragment = RawBuilder<unknown>

/** The first label leads; SQLite takes the tables of a CROSS JOIN in the order in which they stand. */
export function byFirstLabel(t: Tables, query: RunQuery): { from: Fragment; where: Fragment[] } {
  const [[name, value] = ['', ''], ...others] = Object.entries(query.labels ?? {})
  return {
    from: sql`${t.labels} AS l CROSS JOIN ${t.runs} AS r`,
    where: [sql`l.name = ${name} AND l.value = ${value} AND r.id = l.run_id`, ...haveLabels(t, others, sql`l.run_id`)],
  }
}

/** Postgres may begin with another label than the first, if its statistics say that fewer runs have it. */
export function haveLabels(t: Tables, labels: readonly (readonly [name: string, value: string])[], id: Fragment): Fragment[] {
  return labels.map(
    ([name, value]) => sql`EXISTS (SELECT 1 FROM ${t.labels} AS o WHERE o.name = ${name} AND o.value = ${value} AND o.run_id = ${id})`,
  )
}
