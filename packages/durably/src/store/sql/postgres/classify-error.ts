// Maps errors of Postgres to the codes of `DurablyError`: by SQLSTATE, or, if the server sent none, by what the driver reports.
import { DurablyError, type ErrorCode } from '../../../model/errors.ts'

export function classifyError(thrown: unknown): DurablyError {
  if (thrown instanceof DurablyError) return thrown
  const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  const state = sqlStateOf(thrown)
  const code = isOutdatedPlan(thrown) ? 'store_busy' : codeOf(state, message)
  const advice = (state && ADVICE_BY_STATE[state]) ?? ADVICE[code] ?? 'the database failed'
  return new DurablyError(code, `${advice}: ${message}`, { cause: thrown })
}

/**
 * Another claim took the key between the pick and the update, or the same claim was sent twice and the first one is under way: then the claim
 * picks again. It is recognized by the name of the index (with any prefix), because every other duplicate is a mistake.
 */
export function isKeyTaken(error: unknown): boolean {
  if (!(error instanceof DurablyError) || sqlStateOf(error.cause) !== '23505') return false
  const constraint = read(error.cause, 'constraint')
  return typeof constraint === 'string' && /runs_(running_key|lease_owner)$/.test(constraint)
}

/** A prepared statement selects all columns of a table that was migrated meanwhile. It works once it is prepared again. */
export function isOutdatedPlan(thrown: unknown): boolean {
  return sqlStateOf(thrown) === '0A000' && read(thrown, 'routine') === 'RevalidateCachedQuery'
}

/** Postgres refuses everything after a statement that failed, also when its error was caught. */
export function isAborted(thrown: unknown): boolean {
  return sqlStateOf(thrown) === '25P02'
}

/** A serialization failure or a deadlock. If it met a `trigger({ tx })`, its error is classified already. */
export function isConflict(thrown: unknown): boolean {
  return /^(40001|40P01)$/.test(sqlStateOf(thrown instanceof DurablyError ? thrown.cause : thrown) ?? '')
}

/** The server has ended the connection, or the driver could not make sense of it. */
export function isConnectionLost(thrown: unknown): boolean {
  const state = sqlStateOf(thrown)
  return state === undefined || /^(08|57P|25P0[34])/.test(state)
}

const ADVICE: { [code in ErrorCode]?: string } = {
  store_busy: 'another transaction is in the way',
  store_unavailable: 'the database cannot be reached',
  store_full: 'the disk of the database is full',
  store_readonly: 'the database cannot be written',
  store_corrupt: 'the database is damaged',
  store_rejected: 'the database refused the data',
  store_closed: 'the database is closed',
  not_migrated: 'the tables are missing or outdated, call await durably.migrate() first',
}

const POOLER = 'a pooler in between does not keep prepared statements, use postgres(url, { prepare: false })'
const ADVICE_BY_STATE: { [state: string]: string } = { '26000': POOLER, '42P05': POOLER }

/** By SQLSTATE, or by the two characters of its class. What is in neither may pass: it is never the data's fault. */
const BY_STATE: { [state: string]: ErrorCode } = {
  '22': 'store_rejected', // data exception
  '23': 'store_rejected', // integrity constraint
  '25006': 'store_readonly', // read-only transaction: a standby, or a primary that was demoted
  '3F000': 'not_migrated', // no such schema
  '40001': 'store_busy', // serialization failure
  '40P01': 'store_busy', // deadlock
  '42501': 'store_readonly', // insufficient privilege
  '42703': 'not_migrated', // no such column
  '42704': 'not_migrated', // no such object
  '42710': 'store_rejected', // it already exists
  '42P01': 'not_migrated', // no such table
  '42P07': 'store_rejected', // the table already exists
  '53100': 'store_full', // disk full
  '54': 'store_rejected', // too large for an index, a row or a statement
  '55P03': 'store_busy', // lock not available
  XX001: 'store_corrupt', // data corrupted
  XX002: 'store_corrupt', // index corrupted
}

function codeOf(state: string | undefined, message: string): ErrorCode {
  if (state) return BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? 'store_unavailable'
  return /already been destroyed|after calling end on the pool/.test(message) ? 'store_closed' : 'store_unavailable'
}

/** The driver's own codes (ECONNRESET, …) have another length, or no digit. */
function sqlStateOf(thrown: unknown): string | undefined {
  const code = read(thrown, 'code')
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

function read(thrown: unknown, property: string): unknown {
  return typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, property) : undefined
}
