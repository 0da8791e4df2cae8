// LazyStore — a store whose code is loaded with the first operation, so that nobody loads the code of a database that they do not use.
// If it cannot be loaded, the operation rejects, and the next operation tries again.
import type { Env } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { lazyCode, lazyPart } from '../model/lazy.ts'
import { lazyLeadership } from './lazy-leadership.ts'
import type { OpenLeadership } from './leadership.ts'
import type { Store } from './store.ts'

export interface LazyStoreDeps {
  env: Env
  eventLog: boolean
  /** The store will know which of several instances executes. */
  isLed?: boolean
  load: () => Promise<TransactionalStore>
}

/** A store in a database. */
export type TransactionalStore = Store & Required<Pick<Store, 'transact' | 'cluster' | 'archive'>>

type Chapter = 'runs' | 'steps' | 'events' | 'logs' | 'signals' | 'cluster' | 'archive'

export function lazyStore({ env, eventLog, isLed = false, load }: LazyStoreDeps): TransactionalStore {
  const loadedStore = lazyCode(load)
  const store = () => loadedStore(env)

  function chapter<C extends Chapter>(name: C): TransactionalStore[C] {
    return lazyPart(store, (loaded) => loaded[name])
  }

  const openLeadership: OpenLeadership = (deps) =>
    lazyLeadership(async () => {
      const { openLeadership } = await store()
      if (!openLeadership) throw new DurablyError('invalid_config', 'this store does not know who leads')
      return openLeadership(deps)
    })

  return {
    runs: chapter('runs'),
    steps: chapter('steps'),
    events: chapter('events'),
    logs: chapter('logs'),
    signals: chapter('signals'),
    cluster: chapter('cluster'),
    archive: chapter('archive'),
    eventLog,
    transact: async (...args) => (await store()).transact(...args),
    ...(isLed && { openLeadership }),
    migrate: async () => (await store()).migrate(),
    close: async () => (await store()).close(),
  }
}
