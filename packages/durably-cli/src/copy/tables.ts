// Which tables are copied. `leaders` goes too, without its lease: a new leader must get a higher epoch than the last one, which schedules remember.
// The register of workers does not: it says who is there.
import { type Kysely, sql } from 'kysely'
import type { Row } from './row.ts'

/** Tables whose rows belong to a run, and the order in which they were written. */
export const OF_RUNS = [
  { table: 'steps', order: 'rowid' },
  { table: 'logs', order: 'rowid' },
  { table: 'run_events', order: 'seq' },
  { table: 'signals', order: 'name' },
  { table: 'run_labels', order: 'name' },
] as const

/** Postgres takes 65,535 parameters in a statement, and a run has some 50 columns. */
const ROWS_IN_A_STATEMENT = 500

export type Database = Kysely<unknown>

export async function rowsOfRuns(db: Database, table: string, order: string, runIds: readonly string[]): Promise<Row[]> {
  if (runIds.length === 0) return []
  const { rows } =
    await sql<Row>`SELECT * FROM ${sql.table(table)} WHERE run_id IN (${sql.join(runIds)}) ORDER BY run_id, ${sql.ref(order)}`.execute(db)
  return rows
}

export async function rowsByKey(db: Database, table: string, key: 'id' | 'name', values: readonly string[]): Promise<Row[]> {
  if (values.length === 0) return []
  const { rows } = await sql<Row>`SELECT * FROM ${sql.table(table)} WHERE ${sql.ref(key)} IN (${sql.join(values)})`.execute(db)
  return rows
}

export async function insert(db: Database, table: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const columns = Object.keys(first)
  for (let i = 0; i < rows.length; i += ROWS_IN_A_STATEMENT) {
    const values = rows.slice(i, i + ROWS_IN_A_STATEMENT).map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
    await sql`INSERT INTO ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) VALUES ${sql.join(values)}`.execute(
      db,
    )
  }
}
