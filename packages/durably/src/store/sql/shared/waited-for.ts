import { type RawBuilder, sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { isKeyInUse } from './guards.ts'
import type { LazyDeps } from './lazy-deps.ts'
import type { Param, Value } from './statement.ts'

/** The runs that a run may wait for: the child of a step, and the one that has its key. */
export function waitedFor({
  statement,
  session,
  tables: t,
  syntax,
  runRow,
}: Pick<LazyDeps, keyof SqlDeps | 'runRow'>): Pick<RunStore, 'getChild' | 'getHolder'> {
  const one = <P extends { [K in keyof P]: Value }>(where: (p: Param<P>) => RawBuilder<unknown>) => {
    const query = statement<P>((p) => sql`SELECT *${syntax.readAt} FROM ${t.runs} AS k WHERE ${where(p)}`)
    return async (values: P) => {
      const [row] = await session.read(query(values))
      return row ? runRow(row) : null
    }
  }
  const byStep = one<{ id: string; step: string }>((p) => sql`parent_run_id = ${p('id')} AND parent_step = ${p('step')}`)
  const byKey = one<{ key: string }>((p) => sql`${isKeyInUse} AND concurrency_key = ${p('key')}`)
  return {
    getChild: (id, step) => byStep({ id, step }),
    getHolder: (key) => byKey({ key }),
  }
}
