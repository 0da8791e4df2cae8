import { sql } from 'kysely'
import type { StepStore } from '../steps.ts'
import type { SqlContext } from './context.ts'
import { stepRow } from './rows.ts'
import { statement } from './statement.ts'

export function sqlSteps({ db, session, tables: t, syntax }: SqlContext): StepStore {
  const inOrder = sql`${t.steps} ${syntax.by(t.index('steps_index'))}`
  const list = statement<{ runId: string }>(
    db,
    (p) => sql`SELECT * FROM ${inOrder} WHERE run_id = ${p('runId')} ORDER BY "index", ${syntax.insertionOrder}`,
  )
  const find = statement<{ runId: string; ids: string }>(
    db,
    (p) =>
      sql`SELECT s.* FROM ${syntax.texts(p('ids'))} AS wanted JOIN ${t.steps} AS s ON s.id = wanted.value WHERE s.run_id = ${p('runId')}`,
  )
  return {
    list: async (runId) => (await session.read(list({ runId }))).map(stepRow),
    find: async (runId, ids) => (await session.read(find({ runId, ids: JSON.stringify(ids) }))).map(stepRow),
  }
}
