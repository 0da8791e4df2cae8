import { type RawBuilder, sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { lazyCount, lazyDueJobs, lazyList, lazyOldestDue, lazyPurge } from './lazy-queries.ts'
import { runRow } from './rows.ts'
import type { Param, Value } from './statement.ts'

export function runQueries(
  deps: SqlDeps,
): Pick<RunStore, 'get' | 'getChild' | 'getHolder' | 'held' | 'list' | 'count' | 'dueJobs' | 'purge' | 'oldestDue'> {
  const { statement, db, session, env, tables: t, syntax } = deps
  const one = <P extends { [K in keyof P]: Value }>(where: (p: Param<P>) => RawBuilder<unknown>) => {
    const query = statement<P>((p) => sql`SELECT *${syntax.readAt} FROM ${t.runs} WHERE ${where(p)}`)
    return async (values: P) => {
      const [row] = await session.read(query(values))
      return row ? runRow(row) : null
    }
  }
  const byId = one<{ id: string }>((p) => sql`id = ${p('id')}`)
  const byStep = one<{ id: string; step: string }>((p) => sql`parent_run_id = ${p('id')} AND parent_step = ${p('step')}`)
  const byHeldKey = one<{ key: string }>((p) => sql`status = 'running' AND concurrency_key = ${p('key')}`)
  const held = statement<Record<never, never>>(() => sql`SELECT lease_owner FROM ${t.runs} WHERE lease_owner IS NOT NULL`)
  let dueJobs: RunStore['dueJobs'] | undefined
  let purge: RunStore['purge'] | undefined
  let oldestDue: RunStore['oldestDue'] | undefined
  return {
    get: (id) => byId({ id }),
    getChild: (id, step) => byStep({ id, step }),
    getHolder: (key) => byHeldKey({ key }),
    held: async () => (await session.read(held({}))).map(({ lease_owner }) => String(lease_owner)),
    async count(jobNames) {
      const { countRuns } = await lazyCount(env)
      return countRuns(deps, jobNames)
    },
    async dueJobs(request) {
      dueJobs ??= (await lazyDueJobs(env)).dueJobs(deps)
      return dueJobs(request)
    },
    async purge(request) {
      purge ??= (await lazyPurge(env)).purgeRuns(deps)
      return purge(request)
    },
    async oldestDue(jobNames) {
      oldestDue ??= (await lazyOldestDue(env)).oldestDue(deps)
      return oldestDue(jobNames)
    },
    async list(query) {
      const { listRuns } = await lazyList(env)
      const list = listRuns(deps, query, env.wall())
      return list ? (await session.read(list.compile(db))).map(runRow) : []
    },
  }
}
