import { expect, test } from 'vitest'
import { DurablyError, isPassing } from '../../src/model/errors.ts'
import { classifyError, isKeyTaken } from '../../src/store/sql/postgres/classify-error.ts'

const error = (message: string, properties: object = {}) => Object.assign(new Error(message), properties)

test.each([
  ['store_busy', error('deadlock detected', { code: '40P01' })],
  ['store_busy', error('could not serialize access due to concurrent update', { code: '40001' })],
  ['store_busy', error('could not obtain lock', { code: '55P03' })],
  ['store_busy', error('cached plan must not change result type', { code: '0A000', routine: 'RevalidateCachedQuery' })],
  ['store_unavailable', error('this is not supported', { code: '0A000' })],
  ['store_unavailable', error('terminating connection due to administrator command', { code: '57P01' })],
  ['store_unavailable', error('terminating connection because of crash of another server process', { code: '57P02' })],
  ['store_unavailable', error('the database system is starting up', { code: '57P03' })],
  ['store_unavailable', error('canceling statement due to statement timeout', { code: '57014' })],
  ['store_unavailable', error('sorry, too many clients already', { code: '53300' })],
  ['store_unavailable', error('out of memory', { code: '53200' })],
  ['store_unavailable', error('password authentication failed', { code: '28P01' })],
  ['store_unavailable', error('database "app" does not exist', { code: '3D000' })],
  ['store_unavailable', error('could not write to file', { code: '58030' })],
  ['store_unavailable', error('internal error', { code: 'XX000' })],
  ['store_unavailable', error('connect ECONNREFUSED', { code: 'ECONNREFUSED' })],
  ['store_unavailable', error('write EPIPE', { code: 'EPIPE' })],
  ['store_unavailable', error('Connection terminated unexpectedly')],
  ['store_unavailable', error('timeout exceeded when trying to connect')],
  ['store_unavailable', 'a string'],
  ['store_unavailable', undefined],
  ['store_full', error('could not extend file: No space left on device', { code: '53100' })],
  ['store_readonly', error('cannot execute INSERT in a read-only transaction', { code: '25006' })],
  ['store_readonly', error('permission denied for table runs', { code: '42501' })],
  ['store_rejected', error('duplicate key value', { code: '23505' })],
  ['store_rejected', error('invalid byte sequence for encoding "UTF8": 0x00', { code: '22021' })],
  ['store_rejected', error('index row size 2712 exceeds maximum', { code: '54000' })],
  ['store_rejected', error('relation "runs" already exists', { code: '42P07' })],
  ['not_migrated', error('relation "runs" does not exist', { code: '42P01' })],
  ['not_migrated', error('column r.later does not exist', { code: '42703' })],
  ['store_corrupt', error('invalid page in block 7', { code: 'XX001' })],
  ['store_closed', error('driver has already been destroyed')],
  ['store_closed', error('Cannot use a pool after calling end on the pool')],
])('%s: %s', (code, thrown) => {
  const classified = classifyError(thrown)
  expect(classified).toBeInstanceOf(DurablyError)
  expect(classified.code).toBe(code)
  expect(classified.cause).toBe(thrown)
})

test('a fault that is neither the data nor the schema is worth another try', () => {
  for (const code of ['57P01', '40P01', '53300', '53100', '25006', '42501', 'XX000', '26000'])
    expect(isPassing(classifyError(error('', { code })))).toBe(true)
})

test('a pooler that does not keep prepared statements is distinguished from other faults', () => {
  expect(classifyError(error('prepared statement "durably_0" does not exist', { code: '26000' })).message).toContain('prepare: false')
})

test('what is already ours is left as it is', () => {
  const ours = new DurablyError('store_closed', 'closed')
  expect(classifyError(ours)).toBe(ours)
})

test('only the indexes that claims compete for make a lost race, with any prefix', () => {
  const duplicate = (constraint: string) => isKeyTaken(classifyError(error('duplicate key value', { code: '23505', constraint })))
  expect(duplicate('runs_running_key')).toBe(true)
  expect(duplicate('durably_runs_running_key')).toBe(true)
  expect(duplicate('runs_lease_owner')).toBe(true)
  expect(duplicate('runs_idempotency_key')).toBe(false)
  expect(duplicate('steps_completed')).toBe(false)
  expect(isKeyTaken(error('duplicate key value', { code: '23505', constraint: 'runs_running_key' }))).toBe(false)
})
