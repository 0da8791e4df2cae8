// LazyStore — a store whose code is loaded when it is first used: nobody carries databases that they do not have.
// When it cannot be had, the verb rejects, and the next one tries again.
import { type Env, loaded } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { lazyLeadership } from './lazy-leadership.ts'
import type { OpenLeadership } from './leadership.ts'
import type { Store } from './store.ts'

export interface LazyStoreDeps {
  env: Env
  eventLog: boolean
  /** It will say which of several instances executes. */
  isLed?: boolean
  load: () => Promise<TransactionalStore>
}

/** A store in a database. */
export type TransactionalStore = Store & Required<Pick<Store, 'transact'>>

type Chapter = 'runs' | 'steps' | 'events' | 'logs' | 'signals'
type Verb = (...args: unknown[]) => Promise<unknown>
type Verbs = Record<string | symbol, Verb>

export function lazyStore({ env, eventLog, isLed = false, load }: LazyStoreDeps): TransactionalStore {
  let there: TransactionalStore | null = null
  let coming: Promise<TransactionalStore> | null = null

  function store(): Promise<TransactionalStore> {
    coming ??= loaded(env, load).then(
      (store) => {
        there = store
        return store
      },
      (error) => {
        coming = null
        throw error
      },
    )
    return coming
  }

  /** Its verbs are made when they are first asked for: their names are the store's to know. */
  function chapter<C extends Chapter>(name: C): Store[C] {
    const lazily = (verb: string | symbol): Verb => {
      const call = (store: Store, args: unknown[]) => (store[name] as unknown as Verbs)[verb]?.(...args) as Promise<unknown>
      return (...args) => (there ? call(there, args) : store().then((store) => call(store, args)))
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
