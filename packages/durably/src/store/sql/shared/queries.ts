import { type RawBuilder, sql } from 'kysely'
import { RUN_STATUSES, type RunStatus } from '../../../model/run.ts'
import type { RunQuery, RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { runRow } from './rows.ts'

export function runQueries({ statement, db, session, tables: t, syntax: { readAt } }: SqlDeps): Pick<RunStore, 'get' | 'list'> {
  const byId = statement<{ id: string }>((p) => sql`SELECT *${readAt} FROM ${t.runs} WHERE id = ${p('id')}`)
  return {
    async get(id) {
      const [row] = await session.read(byId({ id }))
      return row ? runRow(row) : null
    },
    async list(query) {
      const rows = await session.read(listRuns(t.runs, query, readAt).compile(db))
      return rows.map(runRow)
    },
  }
}

/**
 * The index begins with the status, so a limited list takes the newest of each status and merges them:
 * it reads a few pages, however long the history is.
 */
function listRuns(runs: RawBuilder<unknown>, query: RunQuery, readAt: RawBuilder<unknown>): RawBuilder<unknown> {
  if (query.status !== undefined || query.limit === undefined) return newest(runs, query, query.status, readAt)
  const each = RUN_STATUSES.map((status) => sql`SELECT * FROM (${newest(runs, query, status)}) AS newest`)
  return sql`SELECT *${readAt} FROM (${sql.join(each, sql` UNION ALL `)}) AS newest ORDER BY created_at DESC, id DESC LIMIT CAST(${query.limit} AS bigint)`
}

function newest(
  runs: RawBuilder<unknown>,
  { jobName, after, limit = Number.MAX_SAFE_INTEGER }: RunQuery,
  status: RunStatus | undefined,
  readAt = sql``,
): RawBuilder<unknown> {
  const conditions = [sql`true`]
  if (status !== undefined) conditions.push(sql`status = ${status}`)
  if (jobName !== undefined) conditions.push(sql`job_name = ${jobName}`)
  if (after !== undefined) conditions.push(sql`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return sql`SELECT *${readAt} FROM ${runs} WHERE ${sql.join(conditions, sql` AND `)} ORDER BY created_at DESC, id DESC LIMIT CAST(${limit} AS bigint)`
}
