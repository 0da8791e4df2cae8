import { describe, expect, test } from 'vitest'
import { lazyCode } from '../../model/lazy.ts'
import { virtualEnv } from '../../testing/virtual-env.ts'
import type { WorkerDeps } from '../worker-deps.ts'
import { LazyWorker } from './lazy-worker.ts'
import type { Worker } from './worker.ts'

/** A worker that only notes what it is asked. */
function offline() {
  const env = virtualEnv()
  const asked: string[] = []
  const reported: unknown[] = []
  const network = { isUp: false, loads: 0 }
  class Noted {
    start() {
      asked.push('start')
    }
    async stop() {
      asked.push('stop')
    }
  }
  const load = lazyCode(async () => {
    network.loads++
    if (!network.isUp) throw new TypeError('Failed to fetch')
    return Noted as unknown as typeof Worker
  })
  const deps = { env, report: (error: unknown) => reported.push(error) } as unknown as WorkerDeps
  return { env, asked, reported, network, worker: new LazyWorker(deps, load) }
}

describe('LazyWorker', () => {
  test('is not loaded before it has to work', async () => {
    const { worker, network } = offline()
    worker.wake()
    worker.cancelHere('run')
    await worker.stop()
    expect(worker.isWorking).toBe(false)
    expect(network.loads).toBe(0)
  })

  test('reports that its code cannot be loaded, and starts when it can', async () => {
    const { worker, env, asked, reported, network } = offline()
    worker.start()
    worker.start()
    await env.advance(60_000)
    expect(reported.length).toBeGreaterThan(2)
    expect(reported[0]).toMatchObject({ code: 'store_unavailable', cause: { message: 'Failed to fetch' } })
    expect(reported).toHaveLength(network.loads)
    network.isUp = true
    await env.advance(60_000)
    expect(asked).toEqual(['start'])
  })

  test('one that is stopped while its code is loading does not start, and leaves no timer', async () => {
    const { worker, env, asked, network } = offline()
    worker.start()
    await env.idle()
    await worker.stop()
    expect(env.nextInMs()).toBeNull()
    network.isUp = true
    worker.start()
    await worker.stop()
    await env.advance(60_000)
    expect(asked).toEqual([])
    worker.start()
    await worker.stop()
    expect(asked).toEqual(['start', 'stop'])
  })
})
