import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'

interface OldestValues {
  jobs: string
  now: number
}

/** The first entry of `runs_pick` for each job, then the oldest of these. */
export function oldestDue({ statement, session, env, tables: t, syntax }: SqlDeps): RunStore['oldestDue'] {
  const oldest = statement<OldestValues>((p) => {
    const now = syntax.now(p)
    return sql`${syntax.clock(p)} SELECT r.id, r.job_name, r.run_at, ${now} - r.run_at AS lag FROM ${syntax.texts(p('jobs'))} AS job
      CROSS JOIN ${t.runs} AS r WHERE r.id = (
        SELECT p.id FROM ${t.runs} AS p ${syntax.by(t.index('runs_pick'))}
        WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${now} ORDER BY p.run_at, p.id LIMIT 1)
      ORDER BY r.run_at, r.id LIMIT 1`
  })
  return async (jobNames) => {
    const [row] = await session.read(oldest({ jobs: JSON.stringify(jobNames), now: env.wall() }))
    return row ? { id: String(row.id), jobName: String(row.job_name), runAt: Number(row.run_at), lagMs: Number(row.lag) } : null
  }
}
