// Errors of the store: what passes is a 503, what is nobody's business a 500 without a word of it.
import { expect, test } from 'vitest'
import { DurablyError } from '../../src/model/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { refused, served } from './world.ts'

function failing(error: () => Promise<never>) {
  return (store: Store): Store => ({ ...store, runs: { ...store.runs, get: error, list: error } })
}

test.each(['store_busy', 'store_unavailable', 'store_full', 'store_readonly', 'store_gone', 'store_closed'] as const)(
  '%s says when to come again',
  async (code) => {
    const secret = new DurablyError(code, 'connect ECONNREFUSED 10.1.2.3')
    const { call, errors } = await served('memory', {}, { wrap: failing(() => Promise.reject(secret)) })
    const answer = await call('GET', '/runs')
    expect(answer).toMatchObject(refused(503, code))
    expect(JSON.stringify(answer.body)).not.toContain('10.1.2.3')
    expect(answer.headers.get('Retry-After')).toBe('1')
    expect(errors).toStrictEqual([secret])
  },
)

test.each([new Error('secret'), new DurablyError('row_unreadable', 'secret'), 'secret', null])('%s is internal', async (error) => {
  const { call, errors } = await served('memory', {}, { wrap: failing(() => Promise.reject(error)) })
  const answer = await call('GET', '/runs')
  expect(answer).toMatchObject(refused(500, 'internal'))
  expect(JSON.stringify(answer.body)).not.toContain('secret')
  expect(errors).toStrictEqual([error])
})
