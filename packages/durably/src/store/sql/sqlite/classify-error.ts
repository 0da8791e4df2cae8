// Maps errors of SQLite to the codes of `DurablyError`. The drivers disagree about where the result code is:
//   better-sqlite3, libsql   code 'SQLITE_BUSY_SNAPSHOT'
//   node:sqlite              errcode 517 (message only for some)
//   @libsql/client           code 'SQLITE_BUSY', the message begins with it; rawCode 517
//   SQLocal                  the message only: 'SQLITE_BUSY: sqlite3 result code 5: database is locked'
import { DurablyError, type ErrorCode } from '../../../model/errors.ts'

export function classifyError(thrown: unknown): DurablyError {
  if (thrown instanceof DurablyError) return thrown
  const message = messageOf(thrown)
  const code = codeOf(thrown, message)
  return new DurablyError(code, `${ADVICE[code] ?? 'the database failed'}: ${message}`, { cause: thrown })
}

/** Another claim took the key between the pick and the update, so the claim picks again. */
export function isKeyTaken(error: unknown): boolean {
  return (
    error instanceof DurablyError && error.code === 'store_rejected' && /UNIQUE constraint failed: \S*concurrency_key/.test(error.message)
  )
}

const ADVICE: { [code in ErrorCode]?: string } = {
  store_busy: 'the database is locked by another connection',
  store_full: 'the database or its disk is full',
  store_readonly: 'the database cannot be written',
  store_corrupt: 'the file is damaged or not a SQLite database',
  store_rejected: 'the database refused the data',
  store_closed: 'the database is closed',
  not_migrated: 'the tables are missing or outdated, call await durably.migrate() first',
}

/** By SQLite's primary result code. */
const BY_NUMBER: { [resultCode: number]: ErrorCode } = {
  5: 'store_busy', // BUSY
  6: 'store_busy', // LOCKED
  8: 'store_readonly', // READONLY
  11: 'store_corrupt', // CORRUPT
  13: 'store_full', // FULL
  15: 'store_busy', // PROTOCOL: lost the race for a WAL lock
  18: 'store_rejected', // TOOBIG
  19: 'store_rejected', // CONSTRAINT
  20: 'store_rejected', // MISMATCH
  25: 'store_rejected', // RANGE
  26: 'store_corrupt', // NOTADB
}

const BY_NAME: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'store_busy'],
  [/^SQLITE_FULL/, 'store_full'],
  [/^SQLITE_READONLY/, 'store_readonly'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'store_corrupt'],
  [/^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/, 'store_rejected'],
  [/^(CLIENT_CLOSED|ERR_INVALID_STATE)/, 'store_closed'],
]

const BY_MESSAGE: readonly (readonly [RegExp, ErrorCode])[] = [
  [/no such (table|column|index)|has no column named/, 'not_migrated'],
  [/database (table )?is locked/, 'store_busy'],
  [/database or disk is full/, 'store_full'],
  [/readonly database/, 'store_readonly'],
  [/malformed|not a database/, 'store_corrupt'],
  [/constraint failed|too big|datatype mismatch|already exists/, 'store_rejected'],
  [/not open|is closed|been destroyed/, 'store_closed'],
]

function codeOf(thrown: unknown, message: string): ErrorCode {
  const number = resultCodeOf(thrown, message)
  const byNumber = number === undefined ? undefined : BY_NUMBER[number & 0xff]
  if (byNumber) return byNumber
  const name = read(thrown, 'code')
  return (
    match(BY_NAME, typeof name === 'string' ? name : '') ?? match(BY_NAME, message) ?? match(BY_MESSAGE, message) ?? 'store_unavailable'
  )
}

function resultCodeOf(thrown: unknown, message: string): number | undefined {
  for (const property of ['errcode', 'rawCode']) {
    const value = read(thrown, property)
    if (typeof value === 'number') return value
  }
  const written = /result code (\d+)/.exec(message)
  return written ? Number(written[1]) : undefined
}

function match(table: readonly (readonly [RegExp, ErrorCode])[], text: string): ErrorCode | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1]
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

function read(thrown: unknown, property: string): unknown {
  return typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, property) : undefined
}
