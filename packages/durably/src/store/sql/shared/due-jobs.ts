import { sql } from 'kysely'
import type { DueJobsRequest } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'

interface DueJobsValues {
  now: number
  waitedMs: number
  except: string
  limit: number
}

/** From job to job by `runs_pick`: one look for each name that has pending runs, however many runs those are. */
export function dueJobs({ statement, session, env, tables: t, syntax }: SqlDeps): (request: DueJobsRequest) => Promise<string[]> {
  const pending = sql`FROM ${t.runs} AS p ${syntax.by(t.index('runs_pick'))} WHERE p.status = 'pending'`
  const inTurn = sql`ORDER BY p.job_name, p.run_at, p.id LIMIT 1`
  const names = statement<DueJobsValues>(
    (p) => sql`${syntax.clock(p)} SELECT first.job_name FROM (
        WITH RECURSIVE first(job_name, run_at) AS (
          SELECT job_name, run_at FROM (SELECT p.job_name, p.run_at ${pending} AND p.job_name > '' ${inTurn}) AS first
          UNION ALL
          SELECT r.job_name, r.run_at FROM first
            CROSS JOIN ${t.runs} AS r WHERE r.id = (SELECT p.id ${pending} AND p.job_name > first.job_name ${inTurn})
        ) SELECT job_name, run_at FROM first
      ) AS first
      WHERE first.run_at <= ${syntax.now(p)} - CAST(${p('waitedMs')} AS bigint)
        AND first.job_name NOT IN (SELECT job.value FROM ${syntax.texts(p('except'))} AS job)
      LIMIT CAST(${p('limit')} AS bigint)`,
  )
  return async ({ except, ...request }) => {
    const rows = await session.read(names({ ...request, now: env.wall(), except: JSON.stringify(except) }))
    return rows.map(({ job_name }) => String(job_name))
  }
}
