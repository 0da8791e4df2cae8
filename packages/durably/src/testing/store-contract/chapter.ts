import type { Store } from '../../store/store.ts'
import type { VirtualEnv } from '../virtual-env.ts'

/** What a case of the store contract gets: a migrated, empty store of its own, and the clock of that store. */
export interface World {
  /** The store that is tested. */
  store: Store
  /** The clock of the store. */
  env: VirtualEnv
  /** Opens the same data once more, as a new process would. Without it, the case that needs it must be skipped. */
  reopen?: () => Promise<Store>
  /** Opens a migrated, empty store of the same kind and clock that keeps no events. Without it, the chapter that needs it must be skipped. */
  withoutEventLog?: () => Promise<Store>
  /** Creates an empty table of the user in the database of the store. Absent if there is no database. */
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

/** One case of the store contract. */
export interface Case {
  /** A sentence about the behaviour, unique in the whole contract. */
  name: string
  /** Runs the case; it throws if the store does not behave. */
  run(world: World): Promise<void>
}

/** A group of cases of the store contract. */
export interface Chapter {
  /** What the cases are about. */
  title: string
  /** The cases. */
  cases: readonly Case[]
}

/** Cases by their names; `generated` are those that come out of a table. */
export function chapter(title: string, cases: Record<string, Case['run']>, generated: readonly Case[] = []): Chapter {
  return { title, cases: [...generated, ...Object.entries(cases).map(([name, run]) => ({ name, run }))] }
}
