import { DurablyError } from '@coji/durably'
import { expect, test } from 'vitest'
import { retryOutages } from '../dist/db/outage.js'

test.each([
  [new DurablyError('store_unavailable', 'gone')],
  [new DurablyError('transaction_timeout', 'it was undone')],
  [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  [Object.assign(new Error('terminating connection'), { code: '57P01' })],
  [new Error('Connection terminated unexpectedly')],
  [new Error('timeout exceeded when trying to connect')],
])('a run goes on after %s, with pauses that grow, and not for ever', (error) => {
  expect([1, 2, 7, 8].map((attempt) => retryOutages(attempt, error))).toEqual([1000, 2000, 15_000, 'dead'])
})

test.each([[new Error('a bug')], [new DurablyError('timeout', 'too long')], ['text'], [undefined]])('%s ends it', (error) => {
  expect(retryOutages(1, error)).toBe('dead')
})
