import { expect, test } from 'vitest'
import { DurablyError } from '../../src/model/errors.ts'
import { classifyError, isKeyTaken } from '../../src/store/sql/sqlite/classify-error.ts'

const error = (message: string, properties: object = {}) => Object.assign(new Error(message), properties)

/** As seen from better-sqlite3 and libsql (code), node:sqlite (errcode), @libsql/client (both) and SQLocal (message). */
test.each([
  ['store_busy', error('database is locked', { code: 'SQLITE_BUSY' })],
  ['store_busy', error('database is locked', { code: 'SQLITE_BUSY_SNAPSHOT', rawCode: 517 })],
  ['store_busy', error('database is locked', { code: 'ERR_SQLITE_ERROR', errcode: 261 })],
  ['store_busy', error('SQLITE_BUSY: database is locked', { code: 'SQLITE_BUSY', rawCode: 5 })],
  ['store_busy', error('SQLITE_BUSY: sqlite3 result code 5: database is locked')],
  ['store_busy', error('database table is locked: runs', { code: 'SQLITE_LOCKED' })],
  ['store_full', error('database or disk is full', { code: 'SQLITE_FULL' })],
  ['store_full', error('database or disk is full', { errcode: 13 })],
  ['store_full', error('SQLITE_FULL: sqlite3 result code 13: database or disk is full')],
  ['store_readonly', error('attempt to write a readonly database', { code: 'SQLITE_READONLY_DBMOVED' })],
  ['store_readonly', error('attempt to write a readonly database', { errcode: 1032 })],
  ['store_corrupt', error('database disk image is malformed', { code: 'SQLITE_CORRUPT_VTAB' })],
  ['store_corrupt', error('file is not a database', { errcode: 26 })],
  ['store_corrupt', error('SQLITE_NOTADB: sqlite3 result code 26: file is not a database')],
  ['store_rejected', error('UNIQUE constraint failed: runs.id', { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' })],
  ['store_rejected', error('CHECK constraint failed: status', { errcode: 275 })],
  ['store_rejected', error('string or blob too big', { code: 'ERR_SQLITE_ERROR' })],
  ['store_rejected', error('datatype mismatch', { code: 'SQLITE_MISMATCH' })],
  ['not_migrated', error('no such table: runs', { code: 'SQLITE_ERROR', rawCode: 1 })],
  ['not_migrated', error('no such column: r.lease_writes', { errcode: 1 })],
  ['not_migrated', error('SQLITE_ERROR: sqlite3 result code 1: no such table: runs')],
  ['store_closed', error('database is not open', { code: 'ERR_INVALID_STATE' })],
  ['store_closed', new TypeError('The database connection is not open')],
  ['store_closed', error('CLIENT_CLOSED: The client is closed', { code: 'CLIENT_CLOSED' })],
  ['store_closed', error('driver has already been destroyed')],
  ['store_unavailable', error('disk I/O error', { code: 'SQLITE_IOERR_FSYNC' })],
  ['store_unavailable', error('unable to open database file', { errcode: 14 })],
  ['store_unavailable', error('fetch failed', { code: 'ECONNREFUSED' })],
  ['store_unavailable', 'a string'],
  ['store_unavailable', undefined],
])('%s: %s', (code, thrown) => {
  const classified = classifyError(thrown)
  expect(classified).toBeInstanceOf(DurablyError)
  expect(classified.code).toBe(code)
  expect(classified.cause).toBe(thrown)
})

test('what is already ours is left as it is', () => {
  const ours = new DurablyError('store_closed', 'closed')
  expect(classifyError(ours)).toBe(ours)
})

test('only the index of running keys makes a lost race', () => {
  const unique = (column: string) => classifyError(error(`UNIQUE constraint failed: ${column}`, { errcode: 2067 }))
  expect(isKeyTaken(unique('durably_runs.concurrency_key'))).toBe(true)
  expect(isKeyTaken(unique('runs.job_name, runs.idempotency_key'))).toBe(false)
  expect(isKeyTaken(error('UNIQUE constraint failed: runs.concurrency_key'))).toBe(false)
})
