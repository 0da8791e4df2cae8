// RowReader — lists all runs of an SQLite database after every write, but reads only those that were written. Triggers of the database
// number every change of a run, in the transaction of the change, so no write escapes it. An unchanged run keeps its object.
import { type CompiledQuery, sql } from 'kysely'
import type { RunRow } from '../../model/run.ts'
import { runRow } from '../../store/sql/shared/rows.ts'
import type { SqlStore } from '../../store/sql/sql-store.ts'
import type { CutLine } from './cut-line.ts'

interface Change {
  number: number
  id: string
  /** As one JSON text, which SQLite makes faster than forty values; `null` if the run was deleted. */
  row: string | null
}

/** With the name that a trigger has for the row. The id of a run is never updated. */
const CHANGES = [
  ['INSERT', 'new'],
  ['UPDATE', 'new'],
  ['DELETE', 'old'],
] as const

export class RowReader {
  readonly #db: SqlStore['db']
  readonly #line: CutLine
  readonly #changed: CompiledQuery<Change>
  readonly #known = new Map<string, RunRow>()
  /** The number of the last change that was read. */
  #last = 0

  private constructor(db: SqlStore['db'], line: CutLine, columns: readonly string[]) {
    this.#db = db
    this.#line = line
    const members = columns.flatMap((column) => [sql.lit(column), sql.ref(`runs.${column}`)])
    this.#changed = sql<Change>`
      SELECT changed.number, changed.id, iif(runs.id IS NULL, NULL, json_object(${sql.join(members)})) AS row
      FROM (SELECT max(number) AS number, id FROM run_changes WHERE number > ${0} GROUP BY id) AS changed
      LEFT JOIN runs ON runs.id = changed.id`.compile(db)
  }

  static async open(db: SqlStore['db'], line: CutLine): Promise<RowReader> {
    await sql`CREATE TABLE run_changes (number INTEGER PRIMARY KEY, id TEXT NOT NULL)`.execute(db)
    for (const [change, run] of CHANGES)
      await sql`CREATE TRIGGER ${sql.ref(`run ${change}`)} AFTER ${sql.raw(change)} ON runs
        BEGIN INSERT INTO run_changes (id) VALUES (${sql.ref(`${run}.id`)}); END`.execute(db)
    const { rows } = await sql<{ name: string }>`SELECT name FROM pragma_table_info('runs')`.execute(db)
    const columns = rows.map(({ name }) => name)
    return new RowReader(db, line, columns)
  }

  /** For the next world, when the tables are empty. */
  async reset(): Promise<void> {
    await sql`DELETE FROM run_changes`.execute(this.#db)
    this.#known.clear()
    this.#last = 0
  }

  /** As the store would list them. */
  async list(): Promise<RunRow[]> {
    const query: CompiledQuery<Change> = { ...this.#changed, parameters: [this.#last] }
    const rows = (this.#line.executeNow(query) as Change[] | undefined) ?? (await this.#db.executeQuery(query)).rows
    // Another look may have asked for the same changes, and have been answered before.
    const known = this.#last
    for (const { number, id, row } of rows) {
      if (number <= known) continue
      this.#last = Math.max(this.#last, number)
      if (row === null) this.#known.delete(id)
      else this.#known.set(id, runRow(JSON.parse(row)))
    }
    return [...this.#known.values()].sort(newestFirst)
  }
}

function newestFirst(one: RunRow, other: RunRow): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? 1 : -1
  return one.id < other.id ? 1 : -1
}
