import { expect, test } from 'vitest'
import { jsonOf } from './json-of.ts'

test('plain values stay plain', () => {
  expect(JSON.parse(jsonOf({ a: [1, 'b', null, true] }))).toEqual({ a: [1, 'b', null, true] })
})

test('what JSON cannot express is tagged, as the server does', () => {
  const value = {
    at: new Date(0),
    n: 9n,
    s: new Set([1]),
    m: new Map([['k', -0]]),
    b: new Uint8Array([1, 2]),
    u: undefined,
    $durably: 'mine',
  }
  expect(JSON.parse(jsonOf(value))).toEqual({
    $durably: 'object',
    value: {
      at: { $durably: 'Date', value: '1970-01-01T00:00:00.000Z' },
      n: { $durably: 'bigint', value: '9' },
      s: { $durably: 'Set', value: [1] },
      m: { $durably: 'Map', value: [['k', { $durably: 'number', value: '-0' }]] },
      b: { $durably: 'Uint8Array', value: 'AQI=' },
      u: { $durably: 'undefined' },
      $durably: 'mine',
    },
  })
})
