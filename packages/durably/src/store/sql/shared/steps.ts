import { type RawBuilder, sql } from 'kysely'
import type { RowPage } from '../../row-page.ts'
import type { StepStore } from '../../steps.ts'
import type { SqlDeps } from './deps.ts'
import { isHeld, type OwnerParams } from './guards.ts'
import { stepRow } from './rows.ts'
import type { Param, Value } from './statement.ts'

interface PageValues {
  runId: string
  after: string
  limit: number
}
type OwnedValues = Omit<OwnerParams, 'number'> & PageValues

export function sqlSteps({ statement, session, tables: t, syntax }: SqlDeps): StepStore {
  const inserted = syntax.insertionOrder
  const inOrder = sql`${t.steps} AS s ${syntax.by(t.index('steps_index'))}`
  const past = (p: Param<PageValues>) => sql`AND (s."index", s.${inserted}) >
    (SELECT a."index", a.${inserted} FROM ${t.steps} AS a WHERE a.id = ${p('after')} AND a.run_id = ${p('runId')})`
  const pageOf = (p: Param<PageValues>, from: RawBuilder<unknown>) => sql`SELECT s.*, s.${inserted} AS place FROM ${inOrder}
    WHERE s.run_id = ${p('runId')} ${from} ORDER BY s."index", s.${inserted} LIMIT CAST(${p('limit')} AS bigint)`
  /** The first page, and one after a step. */
  const both = <P extends PageValues & { [K in keyof P]: Value }>(
    build: (p: Param<P>, page: RawBuilder<unknown>) => RawBuilder<unknown>,
  ) => {
    const first = statement<P>((p) => build(p, pageOf(p, sql``)))
    const next = statement<P>((p) => build(p, pageOf(p, past(p))))
    return (values: Omit<P, keyof RowPage>, { after, limit = Number.MAX_SAFE_INTEGER }: RowPage = {}) =>
      session.read((after === undefined ? first : next)({ ...values, after, limit } as unknown as P))
  }
  const list = both<PageValues>((_, page) => page)
  // A page is limited before it is joined, so that it is read in order.
  const listOwned = both<OwnedValues>(
    (p, page) =>
      sql`SELECT page.* FROM ${t.runs} AS r ${syntax.by(t.index('runs_lease_owner'))} LEFT JOIN (${page}) AS page ON true WHERE ${isHeld(p)} ORDER BY page."index", page.place`,
  )
  const find = statement<{ runId: string; ids: string }>(
    (p) =>
      sql`SELECT s.* FROM ${syntax.texts(p('ids'))} AS wanted CROSS JOIN ${t.steps} AS s WHERE s.id = wanted.value AND s.run_id = ${p('runId')}`,
  )
  return {
    list: async (runId, page) => (await list({ runId }, page)).map(stepRow),
    async listOwned({ runId, generation, token }, page) {
      const rows = await listOwned({ runId, generation, token }, page)
      // A run that is held and has no steps is one row without a step.
      return rows.length === 0 ? null : rows.filter(({ id }) => id !== null).map(stepRow)
    },
    find: async (runId, ids) => (await session.read(find({ runId, ids: JSON.stringify(ids) }))).map(stepRow),
  }
}
