// `@coji/durably/postgres` — Postgres through `pg`, made fit for a process that lives for months.
import type { Dialect } from 'kysely'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import type { NotifyingDialect } from '../store/notifier.ts'
import { ConnectionLimit } from './connection-limit.ts'
import { NAME_BYTES_MAX, NotifyingPostgresDialect } from './notifying-dialect.ts'
import { CONNECT_MS_MAX, openPool, type PostgresPool } from './pool.ts'
import { QUERY_MS_MAX, resilientPool } from './resilient-pool.ts'

export type { PostgresPool } from './pool.ts'

/** The options of `postgres`. */
export interface PostgresOptions {
  /** How many connections are opened at most, if a URL was given. A pool of yours has its own limit. Default 10. */
  max?: number
  /**
   * Whether statements are prepared once per connection. Turn it off behind a pooler that does not support prepared statements. Default
   * true.
   */
  prepare?: boolean
  /** How long to wait for the reply to one statement, in milliseconds; after that its connection is closed. Default 30000. */
  queryTimeout?: number
  /**
   * The URL for LISTEN, by which this process learns of changes. It must lead to the database directly or to a pooler in session mode; give
   * it if the first argument leads to a pooler in transaction mode. Default: the first argument.
   */
  listenUrl?: string
  /** The schema that has the tables; `migrate()` creates it. Default: the first one of the connection's `search_path`. */
  schema?: string
}

const POSTGRES_OPTIONS: KeysOf<PostgresOptions> = { max: 1, prepare: 1, queryTimeout: 1, listenUrl: 1, schema: 1 }

const CONNECTIONS_MAX = 10
/** The longest timer of Node; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * A Kysely dialect for the database behind a URL, or behind a `Pool` of `pg`. The pool of a URL is opened at first use and
 * ended with the store; a pool that you made is yours to end.
 *
 * @example const durably = createDurably({ dialect: postgres(process.env.DATABASE_URL) })
 */
export function postgres(poolOrUrl: string | PostgresPool, given: PostgresOptions = {}): Dialect & NotifyingDialect {
  checkKeys('postgres', given, POSTGRES_OPTIONS, 'invalid_config')
  const { max = CONNECTIONS_MAX, prepare = true, queryTimeout = QUERY_MS_MAX, listenUrl, schema } = given
  if (typeof poolOrUrl !== 'string' && typeof poolOrUrl?.connect !== 'function')
    throw invalid(`postgres() needs a URL such as "postgres://localhost/app" or a Pool of pg, got ${JSON.stringify(poolOrUrl)}`)
  if (poolOrUrl === '') throw invalid('postgres() needs a URL such as "postgres://localhost/app", got an empty text')
  if (!Number.isInteger(max) || max < 1) throw invalid(`max must be a whole number of at least 1, got ${max}`)
  if (typeof prepare !== 'boolean') throw invalid(`prepare must be true or false, got ${JSON.stringify(prepare)}`)
  if (!Number.isInteger(queryTimeout) || queryTimeout < 1 || queryTimeout > TIMER_MS_MAX)
    throw invalid(`queryTimeout must be a whole number of milliseconds from 1 to ${TIMER_MS_MAX}, got ${queryTimeout}`)
  if (listenUrl !== undefined && (typeof listenUrl !== 'string' || listenUrl === ''))
    throw invalid(`listenUrl must be a URL such as "postgres://localhost/app", got ${JSON.stringify(listenUrl)}`)
  if (schema !== undefined && !isSchemaName(schema))
    throw invalid(
      `schema must be a text of 1 to ${NAME_BYTES_MAX} bytes without NUL that does not begin with "pg_", got ${JSON.stringify(schema)}`,
    )
  const options = { prepare, queryTimeoutMs: queryTimeout }
  const pool = async () => {
    if (typeof poolOrUrl !== 'string') return resilientPool(poolOrUrl, { ...options, ours: false })
    return resilientPool(await openPool(poolOrUrl, max), { ...options, ours: true })
  }
  const limit = () => (typeof poolOrUrl === 'string' ? new ConnectionLimit(max, CONNECT_MS_MAX) : limitOf(poolOrUrl))
  return new NotifyingPostgresDialect({ pool }, { place: poolOrUrl, listenUrl, schema }, limit)
}

const limits = new WeakMap<PostgresPool, ConnectionLimit>()

/** All dialects that share a pool share its limit. */
function limitOf(pool: PostgresPool): ConnectionLimit {
  const limit = limits.get(pool) ?? new ConnectionLimit(pool.options?.max ?? Number.POSITIVE_INFINITY, CONNECT_MS_MAX)
  limits.set(pool, limit)
  return limit
}

/** Postgres cuts longer names off, and keeps those that begin with `pg_` for itself. */
function isSchemaName(schema: unknown): boolean {
  if (typeof schema !== 'string' || schema === '' || schema.startsWith('pg_') || schema.includes('\0')) return false
  return Buffer.byteLength(schema) <= NAME_BYTES_MAX
}

function invalid(message: string): DurablyError {
  return new DurablyError('invalid_config', message)
}
