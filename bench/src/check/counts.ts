// Counts — what an operation costs, without a clock.
import type { Dialect, QueryExecutorProvider } from 'kysely'

export interface Counts {
  /** Statements that the database executed, `BEGIN` and `COMMIT` included. */
  statements: number
  /** Transactions that wrote something. */
  commits: number
  /** Times that the engine waited for a server. */
  roundTrips?: number
  /** Pages of 4 KiB that went to SQLite's log. */
  pages?: number
  /** Bytes of Postgres' log. */
  walBytes?: number
}

/** A database that counts what is done to it, from the beginning. */
export interface CountedStore {
  dialect(): Dialect
  /** Called with the queries of each engine that was opened on it. */
  onOpen?(db: QueryExecutorProvider): Promise<void>
  read(): Promise<Counts>
  close(): Promise<void>
}

const NAMES = ['statements', 'commits', 'roundTrips', 'pages', 'walBytes'] as const

/** Applies `merge` to each count that `a` has. */
export function eachCount(a: Counts, merge: (value: number, name: keyof Counts) => number): Counts {
  const merged = NAMES.flatMap((name) => {
    const value = a[name]
    return value === undefined ? [] : [[name, merge(value, name)]]
  })
  return Object.fromEntries(merged) as Counts
}

export function difference(after: Counts, before: Counts): Counts {
  return eachCount(after, (value, name) => value - (before[name] ?? 0))
}
