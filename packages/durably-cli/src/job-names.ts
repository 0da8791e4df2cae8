// The names of jobs in a database, from one to the next by an index: one look for each name, however many runs have it.
import type { Durably } from '@coji/durably'
import { type RawBuilder, sql } from 'kysely'
import type { Place } from './place.ts'
import { by, tableNames } from './table-names.ts'

export interface Source {
  durably: Durably
  place: Place
}

/** Of jobs that have pending runs. */
export function pendingJobNames({ durably, place }: Source, max: number): Promise<string[]> {
  const pending = sql`${tableNames(place)('runs')} AS r ${by(place, 'runs_pick')} WHERE r.status = 'pending' AND`
  return names(
    durably,
    (after) => sql`SELECT r.job_name FROM ${pending} r.job_name > ${after} ORDER BY r.job_name, r.run_at, r.id LIMIT 1`,
    max,
  )
}

/** Of jobs that have runs. */
export function jobNames({ durably, place }: Source, max: number): Promise<string[]> {
  const runs = sql`${tableNames(place)('runs')} AS r ${by(place, 'runs_job')}`
  return names(
    durably,
    (after) => sql`SELECT r.job_name FROM ${runs} WHERE r.job_name > ${after} ORDER BY r.job_name, r.status, r.id LIMIT 1`,
    max,
  )
}

async function names(durably: Durably, next: (after: RawBuilder<unknown>) => RawBuilder<unknown>, max: number): Promise<string[]> {
  const { rows } = await sql<{ value: string }>`
    WITH RECURSIVE name(value, number) AS (
      SELECT (${next(sql`''`)}), 1
      UNION ALL SELECT (${next(sql`name.value`)}), name.number + 1 FROM name WHERE name.value IS NOT NULL AND name.number < ${sql.lit(max)}
    ) SELECT value FROM name WHERE value IS NOT NULL`.execute(durably.db)
  return rows.map(({ value }) => value)
}

/** How many runs have this name, counted up to `max`. */
export async function countRunsOf({ durably, place }: Source, jobName: string, max: number): Promise<number> {
  const runs = sql`${tableNames(place)('runs')} AS r ${by(place, 'runs_job')}`
  const { rows } = await sql<{ count: number | string }>`SELECT count(*) AS count FROM (
    SELECT 1 FROM ${runs} WHERE r.job_name = ${jobName} LIMIT ${sql.lit(max)}) AS counted`.execute(durably.db)
  return Number(rows[0]?.count ?? 0)
}
