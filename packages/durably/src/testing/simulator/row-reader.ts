// RowReader — reads all runs of an SQLite database after every write. Each row comes as one JSON text, which SQLite makes faster than
// forty values, and is parsed only if it has changed: an unchanged run keeps its object.
import { type CompiledQuery, sql } from 'kysely'
import type { RunRow } from '../../model/run.ts'
import { runRow } from '../../store/sql/shared/rows.ts'
import type { SqlStore } from '../../store/sql/sql-store.ts'

export class RowReader {
  readonly #db: SqlStore['db']
  readonly #all: CompiledQuery<{ row: string }>
  /** By its text, as of the last look that was answered. */
  #known: ReadonlyMap<string, RunRow> = new Map()

  private constructor(db: SqlStore['db'], columns: readonly string[]) {
    this.#db = db
    const members = columns.flatMap((column) => [sql.lit(column), sql.ref(column)])
    this.#all = sql<{ row: string }>`SELECT json_object(${sql.join(members)}) AS row FROM runs ORDER BY created_at DESC, id DESC`.compile(
      db,
    )
  }

  static async open(db: SqlStore['db']): Promise<RowReader> {
    const { rows } = await sql<{ name: string }>`SELECT name FROM pragma_table_info('runs')`.execute(db)
    const columns = rows.map(({ name }) => name)
    return new RowReader(db, columns)
  }

  /** As the store would list them. */
  async list(): Promise<RunRow[]> {
    const { rows } = await this.#db.executeQuery(this.#all)
    this.#known = new Map(rows.map(({ row }) => [row, this.#known.get(row) ?? runRow(JSON.parse(row))]))
    return [...this.#known.values()]
  }
}
