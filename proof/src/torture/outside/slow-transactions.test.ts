import { expect, test } from 'vitest'
import type { Rows } from '../verdict.ts'
import { exceptOfSlowTransactions, onlySlowTransactionsFail } from './slow-transactions.ts'

const failed = (runId: string, code: string) =>
  ({ runId, name: 'book', status: 'failed', error: code, failure: JSON.stringify({ code }) }) as Rows['steps'][number]
const steps = [failed('slow', 'transaction_timeout'), failed('broken', 'store_unavailable')]
const i9 = (runId: string) => ({ invariant: 'I9', runId, what: 'failed, but no function threw' })

test('a run may fail because its transaction was too slow, and because of nothing else', () => {
  const others = [i9('broken'), { invariant: 'I11', runId: 'slow', what: 'another output' }]
  expect(exceptOfSlowTransactions([i9('slow'), ...others], { steps })).toEqual(others)
  expect(onlySlowTransactionsFail({ steps }).map(({ runId }) => runId)).toEqual(['broken'])
})
