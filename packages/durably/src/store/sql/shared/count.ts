import { sql } from 'kysely'
import { PHASES, type Phase } from '../../../model/phase.ts'
import type { RunCount } from '../../runs.ts'
import { isOfJobs } from './command-guards.ts'
import type { SqlDeps } from './deps.ts'
import { phaseOf } from './phase.ts'

interface CountValues {
  jobs: string | null
  now: number
}

/** Most runs have ended. These are counted in an index alone, without a look at their rows, which may be large. */
export async function countRuns(
  { statement, session, env, tables: t, syntax }: SqlDeps,
  jobNames: readonly string[] | undefined,
): Promise<RunCount[]> {
  const count = statement<CountValues>((p) => {
    const ofJobs = jobNames ? sql`AND ${isOfJobs({ syntax }, p)}` : sql``
    return sql`${syntax.clock(p)} SELECT ${phaseOf(syntax.now(p))} AS phase, CASE WHEN r.attempts > 0 THEN 1 ELSE 0 END AS retried, count(*) AS count
      FROM ${t.runs} AS r WHERE r.status IN ('pending', 'running') ${ofJobs} GROUP BY 1, 2
      UNION ALL SELECT r.status, 0, count(*) FROM ${t.runs} AS r WHERE r.status IN ('completed', 'failed', 'cancelled') ${ofJobs} GROUP BY r.status`
  })
  const rows = await session.read(count({ jobs: jobNames ? JSON.stringify(jobNames) : null, now: env.wall() }))
  return rows.map((row) => ({
    phase: PHASES.find((phase) => phase === row.phase) as Phase,
    isRetried: Number(row.retried) === 1,
    count: Number(row.count),
  }))
}
