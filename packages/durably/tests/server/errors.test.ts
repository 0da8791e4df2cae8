// Errors of the store: what passes is a 503, what is nobody's business a 500 without a word of it.
import { describe, expect, test } from 'vitest'
import { DurablyError } from '../../src/model/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { failure, unhandledRejections } from '../engine/failing-listeners.ts'
import { faulty } from '../engine/faulty-store.ts'
import { Heard } from './sse.ts'
import { refused, request, served } from './world.ts'

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

describe.each(['throws', 'rejects'] as const)('an onError that %s', (how) => {
  /** With a stream that is open. */
  async function streaming() {
    const unhandled = unhandledRejections()
    const { faults, wrap } = faulty()
    const told: unknown[] = []
    let isDown = false
    const authorize = () => {
      if (isDown) throw new Error('the service that authorizes is down')
      return true
    }
    const onError = (error: unknown) => {
      told.push(error)
      return failure(how, 'the service for errors is down, too')
    }
    const world = await served('memory', { authorize, onError }, { wrap })
    const { id } = await world.job.trigger({ to: 1 })
    const heard = new Heard(await world.handler(request('GET', `/runs/${id}/events`)))
    void heard.all()
    await world.env.idle()
    const goDown = () => {
      isDown = true
    }
    return { ...world, unhandled, faults, told, heard, id, goDown }
  }

  test('does not change the answer', async () => {
    const { call, goDown, told, unhandled, env } = await streaming()
    goDown()
    expect(await call('GET', '/runs')).toMatchObject(refused(500, 'internal'))
    await env.idle()
    expect([told.length, unhandled]).toEqual([1, []])
  })

  test('does not keep a stream open that cannot be authorized again', async () => {
    const { handler, heard, goDown, told, unhandled, env } = await streaming()
    goDown()
    await env.advance(2500)
    expect(heard.ended).toBe(true)
    expect([handler.openStreams, told.length, unhandled]).toEqual([0, 1, []])
  })

  test('does not keep a stream open whose source broke', async () => {
    const { handler, heard, faults, durably, id, told, unhandled, env } = await streaming()
    faults.fail('events.list', { when: 'before', error: new TypeError('a row that cannot be read') })
    await durably.cancel(id)
    await env.advance(2500)
    expect(heard.ended).toBe(true)
    expect([handler.openStreams, told.length, unhandled]).toEqual([0, 1, []])
  })
})
