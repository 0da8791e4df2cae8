import { describe, expect, test } from 'vitest'
import { lazyVerbs } from '../model/lazy.ts'
import { virtualEnv } from '../testing/virtual-env.ts'
import type { ClusterStore } from './cluster/cluster.ts'
import { lazyStore } from './lazy-store.ts'
import { memoryStore } from './memory/memory-store.ts'
import type { Store } from './store.ts'

function lazy(load: () => Promise<Store>): Store {
  const loadAsDatabase = async () => {
    const cluster: ClusterStore = lazyVerbs(() => Promise.reject(new Error('not asked for')))
    const { archive = {} as Required<Store>['archive'], ...store } = await load()
    return { cluster, ...store, archive, transact: async () => ({ ok: false }) as const }
  }
  return lazyStore({ env: virtualEnv(), eventLog: true, load: loadAsDatabase })
}

describe('lazyStore', () => {
  test('is loaded with the first operation, and once', async () => {
    let loads = 0
    const store = lazy(async () => {
      loads++
      return memoryStore()
    })
    expect(loads).toBe(0)
    await Promise.all([store.migrate(), store.runs.probe(['job']), store.logs.list('run')])
    expect(await store.runs.get('run')).toBeNull()
    expect(loads).toBe(1)
  })

  test('passes on what it was asked, and what went wrong', async () => {
    const asked: unknown[] = []
    const base = memoryStore()
    const store = lazy(async () => ({
      ...base,
      steps: {
        ...base.steps,
        find(...args) {
          asked.push(args)
          return Promise.reject(new Error('gone'))
        },
      },
    }))
    for (const _ of ['before it is there', 'after']) await expect(store.steps.find('run', ['step'])).rejects.toThrow('gone')
    expect(asked).toEqual([
      ['run', ['step']],
      ['run', ['step']],
    ])
  })

  test('its first operation may be one of a part that is loaded even later', async () => {
    const base = memoryStore()
    const store = lazy(async () => ({ ...base, logs: lazyVerbs(async () => base.logs) }))
    expect(await store.logs.list('run')).toEqual([])
  })

  test('tries again when its code could not be had', async () => {
    let isOnline = false
    const store = lazy(() => (isOnline ? Promise.resolve(memoryStore()) : Promise.reject(new TypeError('Failed to fetch'))))
    await expect(store.migrate()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/code of durably could not be loaded; the next call tries again.*offline.*reload/),
      cause: { message: 'Failed to fetch' },
    })
    isOnline = true
    await store.migrate()
  })
})
