// What is known of an SQL database before a statement is written: which database it is, and what its tables are called.
// `createDurably` needs this at once, so nothing here imports a statement (ADR 0009).
import { type Dialect, type Driver, Kysely } from 'kysely'
import { type Env, systemEnv } from '../../model/env.ts'
import type { TransactionalStore } from '../lazy-store.ts'
import { type Detected, type DialectKind, detectDialect } from './shared/detect.ts'
import { type DurablyTables, type Tables, tablesOf } from './shared/schema.ts'
import { hasSqlocalClient } from './sqlite/transport/sqlocal-shape.ts'

export interface SqlStoreOptions {
  /** Any SQLite or Postgres dialect of Kysely. */
  dialect: Dialect
  env?: Env | undefined
  /** Put before the names of all tables and indexes, to share a database with others. */
  tablePrefix?: string | undefined
  /** Says which database it is where that cannot be seen. */
  dialectKind?: DialectKind | undefined
  /** Whose time decides on Postgres: the server's, or, in a test with virtual time, that of `env`. */
  clock?: Clock | undefined
  /** False keeps no events. Default true. */
  eventLog?: boolean | undefined
  /** True accepts a database in the memory of a browser, which a reload loses. Default false. */
  allowMemory?: boolean | undefined
}

/** Whose time decides. A database that has no clock of its own, like SQLite, goes by the environment's. */
export type Clock = 'database' | 'env'

/** A dialect may say in which schema of its database the tables are. */
export interface SchemaDialect {
  readonly schema?: string | undefined
}

export interface SqlStore extends TransactionalStore {
  readonly db: Kysely<DurablyTables>
}

export interface OpenedSql {
  db: Kysely<DurablyTables>
  driver: Driver
  dialect: Dialect
  detected: Detected
  tablePrefix: string
  /** Where the tables are, if the dialect says it. */
  schema: string | undefined
  tables: Tables
  env: Env
  clock: Clock
  eventLog: boolean
  allowMemory: boolean
}

export function openSql(options: SqlStoreOptions): OpenedSql {
  const { dialect, env = systemEnv(), tablePrefix = '', dialectKind, clock = 'database', eventLog = true, allowMemory = false } = options
  const { schema } = dialect as Dialect & SchemaDialect
  const tables = tablesOf(tablePrefix, schema)
  const detected = detectDialect(dialect, dialectKind)
  return { ...openKysely(dialect), dialect, detected, tablePrefix, schema, tables, env, clock, eventLog, allowMemory }
}

/** Kysely does not give out its driver, but some drivers must be inspected. */
function openKysely(dialect: Dialect): { db: Kysely<DurablyTables>; driver: Driver } {
  let driver: Driver | undefined
  const db = new Kysely<DurablyTables>({
    dialect: {
      createDriver() {
        driver = dialect.createDriver()
        return driver
      },
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    },
  })
  if (!driver) throw new TypeError('Kysely did not ask its dialect for a driver')
  return { db, driver }
}

export type StoreKind = DialectKind | 'sqlocal' | 'foreignSqlite'

/** SQLite is reached in one of three ways. An unknown SQLite driver is `foreignSqlite`. */
export function storeKind({ detected, driver, dialect }: OpenedSql): StoreKind {
  if (hasSqlocalClient(driver)) return 'sqlocal'
  return detected.kind === 'sqlite' && !resetsStatements(dialect) ? 'foreignSqlite' : detected.kind
}

/** A dialect may vouch for its driver: that it resets a statement which met a lock. */
function resetsStatements(dialect: Dialect): boolean {
  return 'resetsStatements' in dialect && dialect.resetsStatements === true
}
