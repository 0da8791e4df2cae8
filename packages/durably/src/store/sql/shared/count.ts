import { type RawBuilder, sql } from 'kysely'
import { PHASES, type Phase } from '../../../model/phase.ts'
import type { RunCount, RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { isOfJobs } from './guards.ts'
import type { Param } from './statement.ts'

interface CountValues {
  jobs: string | null
  now: number
}

/** `phase(row, now)` of the run `r`, as SQL; a test holds the two together. */
function phaseOf(now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE
    WHEN r.status = 'running' THEN CASE WHEN r.lease_expires_at <= ${now} THEN 'stale' WHEN r.cancel_requested_at IS NULL THEN 'running' ELSE 'cancelling' END
    WHEN r.status = 'pending' AND r.run_at > ${now} THEN CASE WHEN r.waiting_for LIKE '%"kind":"signal"%' OR r.waiting_for LIKE '%"kind":"child"%' THEN 'waiting' ELSE 'sleeping' END
    ELSE r.status END`
}

export function countRuns({ statement, session, env, tables: t, syntax }: SqlDeps): RunStore['count'] {
  const count = statement<CountValues>((p: Param<CountValues>) => {
    const now = syntax.now(p)
    return sql`${syntax.clock(p)} SELECT ${phaseOf(now)} AS phase, CASE WHEN r.attempts > 0 THEN 1 ELSE 0 END AS retried, count(*) AS count
      FROM ${t.runs} AS r WHERE ${isOfJobs({ syntax }, p)}
      GROUP BY 1, 2`
  })
  return async (jobNames) => {
    const rows = await session.read(count({ jobs: jobNames ? JSON.stringify(jobNames) : null, now: env.wall() }))
    return rows.map(
      (row): RunCount => ({
        phase: PHASES.find((phase) => phase === row.phase) as Phase,
        isRetried: Number(row.retried) === 1,
        count: Number(row.count),
      }),
    )
  }
}
