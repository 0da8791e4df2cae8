import { sql } from 'kysely'
import { loaded } from '../../../model/env.ts'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { runRow } from './rows.ts'

/** Lists, counts and purges come late: a page that triggers and executes runs needs none of them. */
export function runQueries(deps: SqlDeps): Pick<RunStore, 'get' | 'held' | 'list' | 'count' | 'purge'> {
  const { statement, db, session, env, tables: t, syntax } = deps
  const byId = statement<{ id: string }>((p) => sql`SELECT *${syntax.readAt} FROM ${t.runs} WHERE id = ${p('id')}`)
  const held = statement<Record<never, never>>(() => sql`SELECT lease_owner FROM ${t.runs} WHERE lease_owner IS NOT NULL`)
  let purge: RunStore['purge'] | undefined
  return {
    held: async () => (await session.read(held({}))).map(({ lease_owner }) => String(lease_owner)),
    async get(id) {
      const [row] = await session.read(byId({ id }))
      return row ? runRow(row) : null
    },
    async count(jobNames) {
      const { countRuns } = await loaded(env, () => import('./count.ts'))
      return countRuns(deps, jobNames)
    },
    async purge(request) {
      purge ??= (await loaded(env, () => import('./purge.ts'))).purgeRuns(deps)
      return purge(request)
    },
    async list(query) {
      const { listRuns } = await loaded(env, () => import('./list-runs.ts'))
      const list = listRuns(deps, query, env.wall())
      return list ? (await session.read(list.compile(db))).map(runRow) : []
    },
  }
}
