// SqlWorlds — one database for many worlds, one after the other: it is emptied between them. To open and migrate a database and to
// prepare its statements costs more than half of what a world does with them.
import { type Dialect, sql } from 'kysely'
import { type Env, systemEnv } from '../../model/env.ts'
import type { RunRow } from '../../model/run.ts'
import { runRow } from '../../store/sql/rows.ts'
import type { Row } from '../../store/sql/session.ts'
import { type SqlStore, sqlStore } from '../../store/sql/sql-store.ts'
import { createBookings } from './bookings.ts'
import { type CutLine, cutLine } from './cut-line.ts'
import type { OpenedStore } from './simulate.ts'

const TABLES = ['bookings', 'run_events', 'logs', 'signals', 'steps', 'runs'] as const

/** How the worlds of one process open their store. */
export function sqlWorlds(openDialect: () => Dialect): (env: Env) => Promise<OpenedStore> {
  let database: SharedDatabase | null = null
  return async (env) => {
    // A world that came to a stop may have left a transaction open.
    if (!database?.isFree) database = await SharedDatabase.open(openDialect())
    return database.openFor(env)
  }
}

class SharedDatabase {
  readonly #store: SqlStore
  readonly #line: CutLine
  #world: Env
  /** Of a run, but for its payload. */
  #columns: string[] = []
  isFree = true

  private constructor(dialect: Dialect) {
    this.#line = cutLine(dialect)
    this.#world = NOWHERE
    const env: Env = {
      wall: () => this.#world.wall(),
      mono: () => this.#world.mono(),
      timer: (ms, fn) => this.#world.timer(ms, fn),
      clear: (handle) => this.#world.clear(handle),
      defer: (fn) => this.#world.defer(fn),
      id: () => this.#world.id(),
      random: () => this.#world.random(),
    }
    this.#store = sqlStore({ dialect: this.#line.dialect, env })
  }

  static async open(dialect: Dialect): Promise<SharedDatabase> {
    const database = new SharedDatabase(dialect)
    await database.#store.migrate()
    const { db } = database.#store
    await createBookings(db)
    const { rows } = await sql<{ name: string }>`SELECT name FROM pragma_table_info('runs') WHERE name <> 'payload'`.execute(db)
    database.#columns = rows.map(({ name }) => name)
    return database
  }

  async openFor(world: Env): Promise<OpenedStore> {
    const store = this.#store
    this.isFree = false
    this.#world = world
    this.#line.reset()
    for (const table of TABLES) await sql`DELETE FROM ${sql.table(table)}`.execute(store.db)
    const close = async () => {
      this.isFree = true
    }
    const parts = { db: store.db, line: this.#line, listRuns: listRuns(store, this.#columns) }
    return { store: { ...store, migrate: async () => {}, close }, sql: parts }
  }
}

/** All runs, without asking for payloads that were read before: they are most of what there is to read, and never change. */
function listRuns({ db, runs }: SqlStore, columns: readonly string[]): () => Promise<RunRow[]> {
  const payloads = new Map<string, string | null>()
  const query = sql<Row>`SELECT ${sql.join(columns.map((name) => sql.ref(name)))} FROM runs ORDER BY created_at DESC, id DESC`.compile(db)
  return async () => {
    const { rows } = await db.executeQuery(query)
    for (const { id } of rows) if (!payloads.has(String(id))) payloads.set(String(id), (await runs.get(String(id)))?.payload ?? null)
    return rows.map((row) => runRow({ ...row, payload: payloads.get(String(row.id)) ?? null }))
  }
}

/** It is opened and migrated outside of all worlds. */
const NOWHERE = systemEnv()
