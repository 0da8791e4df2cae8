// Which database is behind a Kysely dialect. Asked of Kysely's adapter, never of a class name: a minifier changes that.
import { type Dialect, PostgresAdapter, SqliteAdapter, sql } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'

export type DialectKind = 'sqlite'

export interface Detected {
  kind: DialectKind
  /** False when two copies of Kysely meet and only the spelling was seen: the database itself must confirm. */
  certain: boolean
}

export function detectDialect(dialect: Dialect, override?: DialectKind): Detected {
  if (override !== undefined) {
    if (override === 'sqlite') return { kind: 'sqlite', certain: true }
    throw unknownDialect(`dialectKind is ${JSON.stringify(override)}`)
  }
  const adapter = dialect.createAdapter()
  if (adapter instanceof SqliteAdapter) return { kind: 'sqlite', certain: true }
  if (adapter instanceof PostgresAdapter) {
    throw new DurablyError('unknown_dialect', 'Postgres is not supported yet; pass a SQLite dialect')
  }
  const placeholder = placeholderOf(dialect)
  if (placeholder === '?') return { kind: 'sqlite', certain: false }
  throw unknownDialect(`the dialect's adapter is ${nameOf(adapter)} and its placeholder is ${JSON.stringify(placeholder)}`)
}

/** MySQL writes `?` too. */
export function notConfirmed(dialect: Dialect, cause: unknown): DurablyError {
  return unknownDialect(`the dialect's adapter is ${nameOf(dialect.createAdapter())} and its database has no sqlite_version()`, cause)
}

function placeholderOf(dialect: Dialect): string {
  const probe = sql`${1}`.toOperationNode()
  return dialect.createQueryCompiler().compileQuery(probe, { queryId: 'detect' }).sql
}

function nameOf(adapter: object): string {
  return adapter.constructor?.name || 'anonymous'
}

function unknownDialect(found: string, cause?: unknown): DurablyError {
  return new DurablyError(
    'unknown_dialect',
    `${found}; accepted: a dialect whose adapter extends Kysely's SqliteAdapter, or dialectKind: 'sqlite'`,
    cause === undefined ? undefined : { cause },
  )
}
