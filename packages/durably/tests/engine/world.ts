// Where the engine's tests play: the same chapter on memory and on a real SQLite file.
// Every test builds its own world; what it opened is stopped, checked and closed when it has finished.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { DurablyOptions } from '../../src/config.ts'
import { createDurably, type Durably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { sqlStore } from '../../src/store/sql/sql-store.ts'
import type { Store } from '../../src/store/store.ts'
import { checkCoherence } from '../../src/testing/store-contract/coherence.ts'
import { type VirtualEnv, virtualEnv } from '../../src/testing/virtual-env.ts'

export const WORLDS = ['memory', 'sqlite'] as const
export type WorldName = (typeof WORLDS)[number]

/** `eventLog` is the world's: every instance has it. */
export interface WorldOptions extends Omit<DurablyOptions, 'dialect' | 'store'> {
  /** Stands between the engine and the store. */
  wrap?: (store: Store) => Store
}

export interface World {
  env: VirtualEnv
  durably: Durably
  /** The database itself, past any wrapper: what another process would see. */
  store: Store
  /** Another instance on the same database. */
  another(options?: WorldOptions): Durably
  /** The answer of `promise`, which may take turns of the event loop, but no time. */
  soon<T>(promise: Promise<T>): Promise<T>
  /** The answer of `promise`, which may take so much virtual time. */
  within<T>(ms: number, promise: Promise<T>): Promise<T>
  /** Of a SQLite world. */
  file: string
}

export async function setup(name: WorldName, options: WorldOptions = {}): Promise<World> {
  const env = virtualEnv()
  const place = name === 'memory' ? memoryPlace(env, options.eventLog) : filePlace(env, options.eventLog)
  const instances: Durably[] = []
  const another = (options: WorldOptions = {}) => {
    const durably = place.open(options)
    instances.push(durably)
    return durably
  }
  onTestFinished(async () => {
    for (const instance of instances) await within(env, 2000, instance.stop({ timeout: 0 }))
    await checkCoherence(place.store)
    await place.close()
  })
  const durably = another(options)
  await durably.migrate()
  return {
    env,
    durably,
    another,
    store: place.store,
    file: place.file,
    soon: (promise) => soon(env, promise),
    within: (ms, promise) => within(env, ms, promise),
  }
}

interface Place {
  store: Store
  file: string
  open(options: WorldOptions): Durably
  close(): Promise<void>
}

function memoryPlace(env: VirtualEnv, eventLog = true): Place {
  const store = memoryStore({ env, eventLog })
  return {
    store,
    file: '',
    open: ({ wrap = (store) => store, eventLog: _, ...options }) => createDurably({ env, logger: false, ...options, store: wrap(store) }),
    close: () => store.close(),
  }
}

function filePlace(env: VirtualEnv, eventLog = true): Place {
  const folder = mkdtempSync(join(tmpdir(), 'durably-engine-'))
  const file = join(folder, 'test.db')
  const closers: (() => Promise<void>)[] = []
  const openStore = () => {
    const store = sqlStore({ dialect: relaxed(file), env, eventLog })
    closers.push(() => store.close())
    return store
  }
  const store = openStore()
  return {
    store,
    file,
    open({ wrap, eventLog: _, ...options }) {
      if (wrap) return createDurably({ env, logger: false, ...options, store: wrap(openStore()) })
      const durably = createDurably({ env, logger: false, ...options, dialect: relaxed(file), eventLog })
      // Not by asyncDispose: a test may leave a run behind that never ends.
      closers.push(() => durably.db.destroy())
      return durably
    },
    async close() {
      for (const close of closers) await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** No test cuts the power, so none needs to wait for the disk; and two connections of one thread cannot wait for each other. */
function relaxed(file: string) {
  return sqlite(file, { durability: 'relaxed', busyTimeoutMs: 1 })
}

const TURNS_MAX = 20_000

async function soon<T>(env: VirtualEnv, promise: Promise<T>): Promise<T> {
  const settled = watch(promise)
  for (let turn = 0; !settled() && turn < TURNS_MAX; turn++) await env.idle()
  if (!settled()) throw new Error('it waits for time to pass')
  return promise
}

async function within<T>(env: VirtualEnv, ms: number, promise: Promise<T>): Promise<T> {
  const settled = watch(promise)
  const until = env.mono() + ms
  await env.idle()
  while (!settled() && env.mono() < until) await env.advance(Math.min(10, until - env.mono()))
  if (!settled()) throw new Error(`it did not happen within ${ms} ms`)
  return promise
}

function watch(promise: Promise<unknown>): () => boolean {
  let settled = false
  const mark = () => {
    settled = true
  }
  promise.then(mark, mark)
  return () => settled
}
