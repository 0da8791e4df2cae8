import { expect, test, vi } from 'vitest'
import { nextTurn, systemEnv } from '../../model/env.ts'
import { virtualEnv } from '../../testing/virtual-env.ts'
import { withinStepTime } from './step-time-limit.ts'

test.each(['its own timeout', 'the timeout of the step around it'])(
  'a step that fails before its function is called leaves nothing behind for %s',
  async (what) => {
    const unheard: unknown[] = []
    const listener = (reason: unknown) => void unheard.push(reason)
    process.on('unhandledRejection', listener)
    const env = virtualEnv()
    const outer = new AbortController()
    const interrupted = () => {
      throw new Error('interrupted')
    }
    const limit =
      what === 'its own timeout' ? { timeout: 300, timeoutMs: 300 } : { timeout: undefined, timeoutMs: Number.POSITIVE_INFINITY }
    await expect(withinStepTime(env, 'step', limit, outer.signal, interrupted)).rejects.toThrow('interrupted')
    await env.advance(1000)
    outer.abort(new Error('the step around it is out of time'))
    await nextTurn(systemEnv())
    process.off('unhandledRejection', listener)
    expect(unheard).toEqual([])
  },
)

test('of many steps inside a limited one none leaves a listener behind', async () => {
  const env = virtualEnv()
  const { signal } = new AbortController()
  const listeners = new Set<unknown>()
  vi.spyOn(signal, 'addEventListener').mockImplementation((_, listener) => void listeners.add(listener))
  vi.spyOn(signal, 'removeEventListener').mockImplementation((_, listener) => void listeners.delete(listener))
  const limit = { timeout: undefined, timeoutMs: Number.POSITIVE_INFINITY }
  const results = [
    withinStepTime(env, 'good', limit, signal, async () => 'done'),
    withinStepTime(env, 'bad', limit, signal, () => Promise.reject(new Error('broken'))),
  ]
  expect(listeners.size).toBe(2)
  await Promise.allSettled(results)
  expect(listeners.size).toBe(0)
})
