import { sql } from 'kysely'
import type { StepStore } from '../../steps.ts'
import type { SqlDeps } from './deps.ts'
import { isHeld, type OwnerParams } from './guards.ts'
import { stepRow } from './rows.ts'

export function sqlSteps({ statement, session, tables: t, syntax }: SqlDeps): StepStore {
  const inOrder = sql`${t.steps} ${syntax.by(t.index('steps_index'))}`
  const list = statement<{ runId: string }>(
    (p) => sql`SELECT * FROM ${inOrder} WHERE run_id = ${p('runId')} ORDER BY "index", ${syntax.insertionOrder}`,
  )
  const listOwned = statement<Omit<OwnerParams, 'number'>>(
    (p) => sql`SELECT s.* FROM ${t.runs} AS r LEFT JOIN ${t.steps} AS s ON s.run_id = r.id
      WHERE ${isHeld(p)} ORDER BY s."index", s.${syntax.insertionOrder}`,
  )
  const find = statement<{ runId: string; ids: string }>(
    (p) =>
      sql`SELECT s.* FROM ${syntax.texts(p('ids'))} AS wanted JOIN ${t.steps} AS s ON s.id = wanted.value WHERE s.run_id = ${p('runId')}`,
  )
  return {
    list: async (runId) => (await session.read(list({ runId }))).map(stepRow),
    async listOwned({ runId, generation, token }) {
      const rows = await session.read(listOwned({ runId, generation, token }))
      // A run that is held and has no steps is one row without a step.
      return rows.length === 0 ? null : rows.filter(({ id }) => id !== null).map(stepRow)
    },
    find: async (runId, ids) => (await session.read(find({ runId, ids: JSON.stringify(ids) }))).map(stepRow),
  }
}
