import type { Store } from '../../store/store.ts'
import type { VirtualEnv } from '../virtual-env.ts'

/** What a case gets: a migrated, empty store of its own, and the clock of that store. */
export interface World {
  store: Store
  env: VirtualEnv
  /** Opens what is stored once more, as a new process would. */
  reopen?: () => Promise<Store>
  /** A migrated, empty store of the same kind and by the same clock that keeps no events. */
  withoutEventLog?: () => Promise<Store>
  /** An empty table of the user's in the database of the store; absent where there is no database. */
  userTable?: () => Promise<UserTable>
}

/** A table of texts beside those of the store. */
export interface UserTable {
  /** Runs `body` inside a transaction of the user's own. */
  transaction<T>(body: (trx: unknown) => Promise<T>): Promise<T>
  insert(trx: unknown, value: string): Promise<unknown>
  remove(trx: unknown, value: string): Promise<unknown>
  /** A statement that the database refuses. */
  breakRules(trx: unknown): Promise<unknown>
  /** Begins a transaction inside `trx`. */
  nested(trx: unknown): Promise<unknown>
  /** In their order. */
  values(): Promise<string[]>
}

export interface Case {
  /** A sentence about behaviour, unique in the whole contract. */
  name: string
  run(world: World): Promise<void>
}

export interface Chapter {
  title: string
  cases: readonly Case[]
}

/** Cases by their names; `generated` are those that come out of a table. */
export function chapter(title: string, cases: Record<string, Case['run']>, generated: readonly Case[] = []): Chapter {
  return { title, cases: [...generated, ...Object.entries(cases).map(([name, run]) => ({ name, run }))] }
}
