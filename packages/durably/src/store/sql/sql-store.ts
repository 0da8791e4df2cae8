// SqlStore — runs in an SQL database, through Kysely. Wires the chapters; holds no SQL of its own.
import type { Dialect, Kysely } from 'kysely'
import { type Env, systemEnv } from '../../model/env.ts'
import type { Store } from '../store.ts'
import type { SqlContext } from './context.ts'
import type { Clock } from './dialect/database.ts'
import { type DialectKind, detectDialect } from './dialect/detect.ts'
import { openKysely } from './dialect/open-kysely.ts'
import { postgresDatabase } from './dialect/postgres/postgres-database.ts'
import { sqliteDatabase } from './dialect/sqlite/sqlite-database.ts'
import { sqlEvents } from './events.ts'
import { sqlLogs } from './logs.ts'
import { migrate } from './migrate.ts'
import { sqlRuns } from './runs.ts'
import { type DurablyTables, tablesOf } from './schema.ts'
import { sqlSignals } from './signals.ts'
import { sqlSteps } from './steps.ts'
import { transact } from './transact.ts'

export interface SqlStoreOptions {
  /** Any SQLite or Postgres dialect of Kysely. */
  dialect: Dialect
  env?: Env
  /** Put before the names of all tables and indexes, to share a database with others. */
  tablePrefix?: string
  /** Says which database it is where that cannot be seen. */
  dialectKind?: DialectKind
  /** Whose time decides on Postgres: the server's, or, in a test with virtual time, that of `env`. */
  clock?: Clock
  /** False keeps no events. Default true. */
  eventLog?: boolean
  /** True accepts a database in the memory of a browser, which a reload loses. Default false. */
  allowMemory?: boolean
}

export interface SqlStore extends Store {
  readonly db: Kysely<DurablyTables>
}

const DATABASES = { sqlite: sqliteDatabase, postgres: postgresDatabase }

export function sqlStore(options: SqlStoreOptions): SqlStore {
  const { dialect, env = systemEnv(), tablePrefix = '', dialectKind, clock = 'database', eventLog = true, allowMemory = false } = options
  const tables = tablesOf(tablePrefix)
  const detected = detectDialect(dialect, dialectKind)
  const { db, driver } = openKysely(dialect)
  const { session, syntax, isKeyTaken, classify, writes, ownerQueries, checkRequirements } = DATABASES[detected.kind]({
    db,
    driver,
    env,
    dialect,
    detected,
    clock,
    allowMemory,
  })
  const context: SqlContext = { db, session, env, tables, syntax, eventLog, isKeyTaken, classify }
  return {
    db,
    runs: sqlRuns(context, writes(context)),
    steps: sqlSteps(context),
    events: sqlEvents(context),
    logs: sqlLogs(context),
    signals: sqlSignals(context),
    eventLog,
    transact: transact(context, ownerQueries(context)),
    async migrate() {
      await checkRequirements()
      await migrate(context)
    },
    close: () => session.close(),
  }
}
