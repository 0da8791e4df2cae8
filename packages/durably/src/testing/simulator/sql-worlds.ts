// SqlWorlds — one database for many worlds, one after the other: its tables are emptied between them. To open and migrate a database and
// to prepare its statements would cost more than half as much as a world itself.
import { type CompiledQuery, type Dialect, sql } from 'kysely'
import { type Env, systemEnv } from '../../model/env.ts'
import { type SqlStore, sqlStore } from '../../store/sql/sql-store.ts'
import { createBookings } from './bookings.ts'
import { chance } from './chance.ts'
import { type CutLine, cutLine } from './cut-line.ts'
import { RowReader } from './row-reader.ts'
import type { OpenedStore } from './simulate.ts'

const TABLES = [
  'bookings',
  'run_events',
  'logs',
  'signals',
  'steps',
  'runs',
  'schedules',
  'leaders',
  'inbox',
  'job_definitions',
  'settings',
  'audit',
  'workers',
  'archive_removals',
] as const

/** The share of worlds whose driver does nothing at once, as that of a browser or of a remote database. */
const ASYNC_DRIVER_SHARE = 0.2

/** How the worlds of one process open their store. */
export function sqlWorlds(openDialect: () => Dialect): (env: Env, seed?: number) => Promise<OpenedStore> {
  let database: SharedDatabase | null = null
  return async (env, seed = 0) => {
    // A world that made no progress may have left a transaction open.
    if (!database?.isFree) database = await SharedDatabase.open(openDialect())
    return database.openFor(env, chance(seed, 'async driver') < ASYNC_DRIVER_SHARE)
  }
}

class SharedDatabase {
  readonly #store: SqlStore
  readonly #line: CutLine
  readonly #emptyTables: readonly CompiledQuery[]
  #reader!: RowReader
  #world: Env
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
      load: (code) => this.#world.load?.(code) ?? code,
    }
    this.#store = sqlStore({ dialect: this.#line.dialect, env })
    this.#emptyTables = TABLES.map((table) => sql`DELETE FROM ${sql.table(table)}`.compile(this.#store.db))
  }

  static async open(dialect: Dialect): Promise<SharedDatabase> {
    const database = new SharedDatabase(dialect)
    await database.#store.migrate()
    await createBookings(database.#store.db)
    database.#reader = await RowReader.open(database.#store.db, database.#line)
    return database
  }

  async openFor(world: Env, isAsync: boolean): Promise<OpenedStore> {
    const store = this.#store
    this.isFree = false
    this.#world = world
    this.#line.reset(isAsync)
    for (const empty of this.#emptyTables) await store.db.executeQuery(empty)
    await this.#reader.reset()
    const close = async () => {
      this.isFree = true
    }
    return {
      store: { ...store, migrate: async () => {}, close },
      listRuns: () => this.#reader.list(),
      sql: { db: store.db, line: this.#line },
    }
  }
}

/** It is opened and migrated outside of all worlds. */
const NOWHERE = systemEnv()
