import { expect, test } from 'vitest'
import { DurablyError, isPassing } from './errors.ts'

test('an error carries its code and its cause', () => {
  const cause = new Error('disk')
  const error = new DurablyError('store_full', 'no room', { cause })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'DurablyError', code: 'store_full', message: 'no room', cause })
})

test('only store errors that pass may be sent again (R6)', () => {
  for (const code of ['store_busy', 'store_unavailable', 'store_full', 'store_readonly'] as const) {
    expect(isPassing(new DurablyError(code, ''))).toBe(true)
  }
  for (const code of [
    'store_corrupt',
    'store_gone',
    'store_rejected',
    'store_closed',
    'not_migrated',
    'schema_too_new',
    'lease_lost',
  ] as const) {
    expect(isPassing(new DurablyError(code, ''))).toBe(false)
  }
  expect(isPassing(new Error('store_busy'))).toBe(false)
  expect(isPassing(undefined)).toBe(false)
})
