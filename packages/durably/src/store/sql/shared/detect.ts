// Which database is behind a Kysely dialect. Asked of Kysely's adapter, never of a class name: a minifier changes that.
import { type Dialect, PostgresAdapter, SqliteAdapter, sql } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'

const KINDS = ['sqlite', 'postgres'] as const
export type DialectKind = (typeof KINDS)[number]

export interface Detected {
  kind: DialectKind
  /** False when two copies of Kysely meet and only the spelling was seen: the database itself must confirm. */
  certain: boolean
}

export function detectDialect(dialect: Dialect, override?: DialectKind): Detected {
  if (override !== undefined) {
    if (KINDS.includes(override)) return { kind: override, certain: true }
    throw unknownDialect(`dialectKind is ${JSON.stringify(override)}`)
  }
  const adapter = dialect.createAdapter()
  if (adapter instanceof SqliteAdapter) return { kind: 'sqlite', certain: true }
  if (adapter instanceof PostgresAdapter) return { kind: 'postgres', certain: true }
  const placeholder = placeholderOf(dialect)
  if (placeholder === '?') return { kind: 'sqlite', certain: false }
  if (placeholder === '$1') return { kind: 'postgres', certain: false }
  throw unknownDialect(`the dialect's adapter is ${nameOf(adapter)} and its placeholder is ${JSON.stringify(placeholder)}`)
}

/** MySQL writes `?` too. */
export function notConfirmed(dialect: Dialect, lacking: string, cause: unknown): DurablyError {
  return unknownDialect(`the dialect's adapter is ${nameOf(dialect.createAdapter())} and its database has no ${lacking}`, cause)
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
    `${found}; accepted: a dialect whose adapter extends Kysely's SqliteAdapter or PostgresAdapter, or dialectKind: ${KINDS.map((kind) => `'${kind}'`).join(' or ')}`,
    cause === undefined ? undefined : { cause },
  )
}
