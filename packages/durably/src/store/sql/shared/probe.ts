import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { isOver, RUNNING_INDEX } from './guards.ts'
import type { Param } from './statement.ts'

interface ProbeValues {
  jobs: string
  now: number
}

export function probeRuns({ statement, session, env, tables: t, syntax }: SqlDeps): RunStore['probe'] {
  const jobs = (p: Param<ProbeValues>) => sql`${syntax.texts(p('jobs'))} AS job`
  const pending = sql`${t.runs} AS r ${syntax.by(t.index('runs_pick'))} WHERE r.status = 'pending' AND r.job_name = job.value`
  const running = sql`${t.runs} AS r ${syntax.by(t.index(RUNNING_INDEX))} WHERE r.status = 'running'`
  /** The leases are those of all running runs, read once. Every other line looks at one entry of an index, or at one per registered job. */
  const probe = statement<ProbeValues>((p) => {
    const now = syntax.now(p)
    const over = isOver(sql`r.lease_expires_at`, now)
    return sql`${syntax.clock(p)} SELECT ${now} AS now,
      EXISTS (SELECT 1 FROM ${jobs(p)} WHERE EXISTS (SELECT 1 FROM ${pending} AND r.run_at <= ${now})) AS due,
      leases.*,
      (SELECT min((SELECT min(r.run_at) FROM ${pending} AND r.run_at > ${now})) FROM ${jobs(p)}) AS next_run_at,
      (SELECT min(s.next_at) FROM ${t.schedules} AS s ${syntax.by(t.index('schedules_due'))} WHERE s.paused = 0) AS next_duty_at,
      EXISTS (SELECT 1 FROM ${t.inbox} AS i ${syntax.by(t.index('inbox_due'))} WHERE i.processed_at IS NULL) AS events
      FROM (SELECT max(CASE WHEN ${over} THEN 1 END) AS stale, min(CASE WHEN NOT ${over} THEN r.lease_expires_at END) AS next_lease_end FROM ${running}) AS leases`
  })
  return async (jobNames) => {
    const [row] = await session.read(probe({ jobs: JSON.stringify(jobNames), now: env.wall() }))
    const ahead = [row?.next_run_at, row?.next_lease_end].filter((at) => at !== null && at !== undefined).map(Number)
    return {
      due: Number(row?.due) === 1,
      stale: Number(row?.stale) === 1,
      nextInMs: ahead.length === 0 ? null : Math.min(...ahead) - Number(row?.now),
      ...(row?.next_duty_at != null && { dutyInMs: Number(row.next_duty_at) - Number(row.now) }),
      ...(Number(row?.events) === 1 && { hasEvents: true }),
    }
  }
}
