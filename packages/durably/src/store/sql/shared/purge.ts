import { sql } from 'kysely'
import type { PurgeRequest } from '../../runs.ts'
import { isDeletable, isOfJobs } from './command-guards.ts'
import type { SqlDeps } from './deps.ts'
import type { Param } from './statement.ts'

interface PurgeValues {
  statuses: string
  jobs: string | null
  olderThanMs: number
  limit: number
  now: number
}

export function purgeRuns({ statement, session, env, tables: t, syntax }: SqlDeps): (request: PurgeRequest) => Promise<number> {
  const isOver = (p: Param<PurgeValues>) =>
    sql`r.finished_at <= ${syntax.now(p)} - ${p('olderThanMs')} AND r.status IN (SELECT wanted.value FROM ${syntax.texts(p('statuses'))} AS wanted)`
  const ended = (p: Param<PurgeValues>) => sql`SELECT r.id FROM ${t.runs} AS r ${syntax.by(t.index('runs_finished_at'))}
      WHERE ${isOver(p)} AND ${isDeletable(t)}
        AND ${isOfJobs({ syntax }, p)}
      ORDER BY r.finished_at, r.id LIMIT CAST(${p('limit')} AS bigint)`
  /** Explicitly, because a connection may not enforce foreign keys. */
  const children = [t.steps, t.logs, t.events, t.signals].map((table) =>
    statement<PurgeValues>((p) => sql`${syntax.clock(p)} DELETE FROM ${table} WHERE run_id IN (${ended(p)})`),
  )
  /** `isOver` is checked twice: a run may have been retried while this waited for its lock, and then only its own row is read again. */
  const runs = statement<PurgeValues>(
    (p) => sql`${syntax.clock(p)} DELETE FROM ${t.runs} AS r WHERE r.id IN (${ended(p)}) AND ${isOver(p)} RETURNING id`,
  )
  return async ({ statuses, olderThanMs, jobNames, limit }) => {
    const values = {
      statuses: JSON.stringify(statuses),
      jobs: jobNames ? JSON.stringify(jobNames) : null,
      olderThanMs,
      limit,
      now: env.wall(),
    }
    const results = await session.write(syntax.cascades ? [runs(values)] : [...children.map((child) => child(values)), runs(values)])
    return results.at(-1)?.length ?? 0
  }
}
