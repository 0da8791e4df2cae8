// Retention — removes runs that ended long ago: a page at a time, between other work, so that nothing waits for it.
import type { Env } from '../model/env.ts'
import type { RetentionRule } from '../model/retention.ts'
import { PURGE_PAGE, type RunStore } from '../store/runs.ts'

const EVERY_MS = 60_000

interface RetentionDeps {
  runs: Pick<RunStore, 'purge'>
  env: Env
  rules: readonly RetentionRule[]
}

export class Retention {
  readonly #deps: RetentionDeps
  #againAt = Number.NEGATIVE_INFINITY

  constructor(deps: RetentionDeps) {
    this.#deps = deps
  }

  /** Removes a page if it is time; returns in how many ms to call it again. */
  async purge(): Promise<number> {
    const { runs, env, rules } = this.#deps
    if (rules.length === 0) return Number.POSITIVE_INFINITY
    if (env.mono() >= this.#againAt) {
      // Set before the call, so that one that fails is not repeated at once.
      this.#againAt = env.mono() + EVERY_MS
      const gone = await Promise.all(rules.map((rule) => runs.purge({ ...rule, limit: PURGE_PAGE })))
      // Also after a page that was not full: a removed run may have been the reason to keep others.
      if (gone.some((count) => count > 0)) this.#againAt = env.mono()
    }
    return Math.max(0, this.#againAt - env.mono())
  }
}
