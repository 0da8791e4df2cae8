// SqlStore — runs in an SQL database, through Kysely. Wires the chapters; holds no SQL of its own.
import type { Dialect, Kysely } from 'kysely'
import { type Env, systemEnv } from '../../model/env.ts'
import type { Store } from '../store.ts'
import type { SqlContext } from './context.ts'
import { type DialectKind, detectDialect } from './dialect/detect.ts'
import { openKysely } from './dialect/open-kysely.ts'
import { isKeyTaken } from './dialect/sqlite/classify-error.ts'
import { openSqliteSession } from './dialect/sqlite/open-session.ts'
import { checkRequirements } from './dialect/sqlite/requirements.ts'
import { sqliteSyntax } from './dialect/sqlite/syntax.ts'
import { sqlEvents } from './events.ts'
import { sqlLogs } from './logs.ts'
import { migrate } from './migrate.ts'
import { sqlRuns } from './runs.ts'
import { type DurablyTables, tablesOf } from './schema.ts'
import { sqlSteps } from './steps.ts'

export interface SqlStoreOptions {
  /** Any SQLite dialect of Kysely. */
  dialect: Dialect
  env?: Env
  /** Put before the names of all tables and indexes, to share a database with others. */
  tablePrefix?: string
  /** Says which database it is where that cannot be seen. */
  dialectKind?: DialectKind
}

export interface SqlStore extends Store {
  readonly db: Kysely<DurablyTables>
}

export function sqlStore({ dialect, env = systemEnv(), tablePrefix = '', dialectKind }: SqlStoreOptions): SqlStore {
  const tables = tablesOf(tablePrefix)
  const detected = detectDialect(dialect, dialectKind)
  const { db, driver } = openKysely(dialect)
  const session = openSqliteSession({ db, driver, env, dialect, detected })
  const context: SqlContext = { db, session, env, tables, syntax: sqliteSyntax, isKeyTaken }
  return {
    db,
    runs: sqlRuns(context),
    steps: sqlSteps(context),
    events: sqlEvents(context),
    logs: sqlLogs(context),
    async migrate() {
      await checkRequirements(session)
      await migrate(context)
    },
    close: () => session.close(),
  }
}
