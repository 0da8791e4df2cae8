import { describe, expect, test } from 'vitest'
import { checkKeys, nearest } from './known-keys.ts'

const KNOWN = { pollingInterval: 1, heartbeatInterval: 1, maxAttempts: 1, idempotencyKey: 1, retry: 1, status: 1 }

describe('checkKeys', () => {
  test.each([
    ['pollInterval', 'pollingInterval'],
    ['PollingInterval', 'pollingInterval'],
    ['heartbeat', 'heartbeatInterval'],
    ['attempts', 'maxAttempts'],
    ['idempotencyKy', 'idempotencyKey'],
    ['retries', 'retry'],
    ['stauts', 'status'],
    ['statuses', 'status'],
  ])('%s is refused, and %s is proposed', (wrong, right) => {
    expect(() => checkKeys('it', { [wrong]: 1 }, KNOWN)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: `it has no option "${wrong}"; did you mean "${right}"?` }),
    )
  })

  test('a word that is like none of them gets the whole list', () => {
    expect(() => checkKeys('it', { colour: 'red' }, { a: 1, b: 1 })).toThrow('it has no option "colour"; there is a, b')
  })

  test('an unknown key is refused whatever its value is, and so are the names of inherited members', () => {
    for (const key of ['colour', 'constructor', 'toString', '__proto__'])
      expect(() => checkKeys('it', JSON.parse(`{"${key}":null}`), KNOWN), key).toThrow('it has no option')
    expect(() => checkKeys('it', { colour: undefined }, KNOWN)).toThrow('it has no option')
  })

  test.each([null, 'text', 5, true, 10n, Symbol('s')])('%s is no object of options', (given) => {
    expect(() => checkKeys('it', given, KNOWN, 'invalid_config')).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: `the options of it must be an object, got ${String(given)}` }),
    )
  })

  test('known keys, symbols and no options at all pass', () => {
    checkKeys('it', undefined, KNOWN)
    checkKeys('it', {}, KNOWN)
    checkKeys('it', { retry: undefined, status: 'x', [Symbol('private')]: 1 }, KNOWN)
  })
})

test('a long word is cut: it may come from outside', () => {
  expect(nearest('x'.repeat(1_000_000), ['a'])).toBe(`"${'x'.repeat(50)}"; there is a`)
})
