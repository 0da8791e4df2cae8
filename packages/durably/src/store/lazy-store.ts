// LazyStore — a store whose code is loaded with the first verb, so that nobody loads the code of a database that they do not use.
// If it cannot be loaded, the verb rejects, and the next verb tries again.
import { type Env, loaded } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
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
export type TransactionalStore = Store & Required<Pick<Store, 'transact'>>

type Chapter = 'runs' | 'steps' | 'events' | 'logs' | 'signals'
type Verb = (...args: unknown[]) => Promise<unknown>
type Verbs = Record<string | symbol, Verb>

export function lazyStore({ env, eventLog, isLed = false, load }: LazyStoreDeps): TransactionalStore {
  let loadedStore: TransactionalStore | null = null
  let loading: Promise<TransactionalStore> | null = null

  function store(): Promise<TransactionalStore> {
    loading ??= loaded(env, load).then(
      (store) => {
        loadedStore = store
        return store
      },
      (error) => {
        loading = null
        throw error
      },
    )
    return loading
  }

  /** A proxy, because only the loaded store knows the names of its verbs. */
  function chapter<C extends Chapter>(name: C): Store[C] {
    const lazily = (verb: string | symbol): Verb => {
      const call = (store: Store, args: unknown[]) => (store[name] as unknown as Verbs)[verb]?.(...args) as Promise<unknown>
      return (...args) => (loadedStore ? call(loadedStore, args) : store().then((store) => call(store, args)))
    }
    const get = (made: Verbs, verb: string | symbol) => {
      made[verb] ??= lazily(verb)
      return made[verb]
    }
    return new Proxy({} as Verbs, { get }) as unknown as Store[C]
  }

  const openLeadership: OpenLeadership = (parts) =>
    lazyLeadership(async () => {
      const { openLeadership } = await store()
      if (!openLeadership) throw new DurablyError('invalid_config', 'this store does not know who leads')
      return openLeadership(parts)
    })

  return {
    runs: chapter('runs'),
    steps: chapter('steps'),
    events: chapter('events'),
    logs: chapter('logs'),
    signals: chapter('signals'),
    eventLog,
    transact: async (body) => (await store()).transact(body),
    ...(isLed && { openLeadership }),
    migrate: async () => (await store()).migrate(),
    close: async () => (await store()).close(),
  }
}
