import { type RawBuilder, sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { runRow } from './rows.ts'
import type { Param, Value } from './statement.ts'

export function runQueries({ statement, session, tables: t, syntax }: SqlDeps): Pick<RunStore, 'get' | 'getChild' | 'getHolder' | 'held'> {
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
  return {
    get: (id) => byId({ id }),
    getChild: (id, step) => byStep({ id, step }),
    getHolder: (key) => byHeldKey({ key }),
    held: async () => (await session.read(held({}))).map(({ lease_owner }) => String(lease_owner)),
  }
}
