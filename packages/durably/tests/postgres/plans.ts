// What Postgres did for a statement, node by node.
import { CompiledQuery, type Kysely } from 'kysely'
import { postgresSyntax } from '../../src/store/sql/postgres/syntax.ts'
import type { SqlDeps } from '../../src/store/sql/shared/deps.ts'
import { type DurablyTables, tablesOf } from '../../src/store/sql/shared/schema.ts'
import { statementsOf } from '../../src/store/sql/shared/statement.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'

export interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** What Postgres expects the whole statement to cost. */
export async function costOf(db: Kysely<DurablyTables>, query: CompiledQuery): Promise<number> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(`EXPLAIN (FORMAT JSON) ${query.sql}`, [...query.parameters]))
  const [
    {
      'QUERY PLAN': [top],
    } = { 'QUERY PLAN': [] },
  ] = rows as { 'QUERY PLAN': { Plan: { 'Total Cost': number } }[] }[]
  return top?.Plan['Total Cost'] ?? Number.NaN
}

export async function explain(db: Kysely<DurablyTables>, query: CompiledQuery | undefined): Promise<Plan[]> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${query?.sql}`, [...(query?.parameters ?? [])]))
  const [
    {
      'QUERY PLAN': [top],
    } = { 'QUERY PLAN': [] },
  ] = rows as { 'QUERY PLAN': { Plan: Plan }[] }[]
  return top ? all(top.Plan) : []
}

/** For chapters of the store that send nothing, and show in `sent` what they would have sent. */
export function capturing(db: Kysely<DurablyTables>): { deps: SqlDeps; sent: CompiledQuery[] } {
  const sent: CompiledQuery[] = []
  const session = {
    read: async (query: CompiledQuery) => {
      sent.push(query)
      return []
    },
    write: async (queries: readonly CompiledQuery[]) => {
      sent.push(...queries)
      return []
    },
  }
  const tables = tablesOf('')
  const given = { statement: statementsOf(db), session, env: virtualEnv(), tables, syntax: postgresSyntax('database'), into: tables }
  return { deps: given as unknown as SqlDeps, sent }
}

/** How many rows of tables and indexes it looked at. */
export function rowsRead(nodes: readonly Plan[]): number {
  const scans = nodes.filter((node) => /Scan$/.test(node['Node Type']) && !/Subquery|CTE/.test(node['Node Type']))
  return scans.reduce((sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'], 0)
}

function all(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(all)]
}
