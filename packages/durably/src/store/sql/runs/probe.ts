import { sql } from 'kysely'
import { LEASE_MS_MAX, type RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import { type Param, statement } from '../statement.ts'

interface ProbeValues {
  jobs: string
  now: number
  /** A lease that ends later was written by a broken clock. */
  far: number
}

export function probeRuns({ db, session, env, tables: t, syntax }: SqlContext): RunStore['probe'] {
  const jobs = (p: Param<ProbeValues>) => sql`${syntax.elements(p('jobs'))} AS job`
  const pending = sql`${t.runs} AS r ${syntax.by(t.index('runs_pick'))} WHERE r.status = 'pending' AND r.job_name = job.value`
  const running = sql`${t.runs} AS r ${syntax.by(t.index('runs_lease_end'))} WHERE r.status = 'running'`
  /** Each line looks at one entry of an index, per registered job where it asks for pending runs. */
  const probe = statement<ProbeValues>(
    db,
    (p) => sql`SELECT
      EXISTS (SELECT 1 FROM ${jobs(p)} WHERE EXISTS (SELECT 1 FROM ${pending} AND r.run_at <= ${p('now')})) AS due,
      EXISTS (SELECT 1 FROM ${running} AND r.lease_expires_at <= ${p('now')}) OR EXISTS (SELECT 1 FROM ${running} AND r.lease_expires_at > ${p('far')}) AS stale,
      (SELECT min((SELECT min(r.run_at) FROM ${pending} AND r.run_at > ${p('now')})) FROM ${jobs(p)}) AS next_run_at,
      (SELECT min(r.lease_expires_at) FROM ${running} AND r.lease_expires_at > ${p('now')} AND r.lease_expires_at <= ${p('far')}) AS next_lease_end`,
  )
  return async (jobNames) => {
    const now = env.wall()
    const [row] = await session.read(probe({ jobs: JSON.stringify(jobNames), now, far: now + LEASE_MS_MAX }))
    const ahead = [row?.next_run_at, row?.next_lease_end].filter((at) => at !== null && at !== undefined).map(Number)
    return {
      due: Number(row?.due) === 1,
      stale: Number(row?.stale) === 1,
      nextInMs: ahead.length === 0 ? null : Math.min(...ahead) - now,
    }
  }
}
