// LazyRunLists — the lists of runs that somebody watches. The code that reads them is loaded with the first watch (ADR 0009).
import { loaded } from '../model/env.ts'
import { once } from '../model/lazy.ts'
import type { RunListWatcher, RunListWatcherDeps } from './run-list-watcher.ts'

export class LazyRunLists {
  /** The watcher, loaded with the first call. */
  readonly watcher: () => RunListWatcher | Promise<RunListWatcher>
  #loaded: RunListWatcher | null = null

  constructor(deps: RunListWatcherDeps) {
    this.watcher = once(async () => {
      const { RunListWatcher } = await loaded(deps.env, () => import('./run-list-watcher.ts'))
      this.#loaded = new RunListWatcher(deps)
      return this.#loaded
    })
  }

  /** Any run may have changed. */
  touch(): void {
    this.#loaded?.touch()
  }
}
