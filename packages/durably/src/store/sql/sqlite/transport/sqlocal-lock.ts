// SqlocalLock — lets one tab at a time use a SQLocal file, by a Web Lock of its name.
//   - It only puts our own calls in order. SQLite's own locks below it protect the file.
//   - So it can be stolen from a tab that was frozen while it held it. A tab that was frozen while it held SQLite's lock blocks the file.
import type { Env } from '../../../../model/env.ts'
import { DurablyError } from '../../../../model/errors.ts'

/** A tab that holds the lock for longer is stuck, and the caller gets an error. */
const PATIENCE_MS = 5000
/** After this time as well, the tab is frozen: even opening the file does not take as long. */
const STEAL_AFTER_MS = 30_000

export class SqlocalLock {
  readonly #env: Env
  readonly #name: string
  #stealing: Promise<unknown> | null = null

  constructor(env: Env, name: string) {
    this.#env = env
    this.#name = name
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    // Without Web Locks this is a server that renders the page.
    if (!globalThis.navigator?.locks) return work()
    let result: Promise<T> | undefined
    await this.#request(PATIENCE_MS, () => {
      result = work()
      return result
    })
    // Work that has begun is awaited, also if the lock was stolen meanwhile.
    if (result) return result
    this.#stealAfterTimeout()
    throw new DurablyError('store_busy', `another tab has held the database for ${PATIENCE_MS} ms`)
  }

  /** Answers whether `work` has begun, however it ended. */
  async #request(patienceMs: number, work: () => Promise<unknown>): Promise<boolean> {
    let hasBegun = false
    const patience = new AbortController()
    const timer = this.#env.timer(patienceMs, () => patience.abort())
    try {
      await navigator.locks.request(this.#name, { signal: patience.signal }, () => {
        this.#env.clear(timer)
        hasBegun = true
        return work()
      })
    } catch (error) {
      if (!hasBegun && !patience.signal.aborted) throw error
    } finally {
      this.#env.clear(timer)
    }
    return hasBegun
  }

  /** Queues once for all calls of this instance, and steals the lock from a tab that does not release it. */
  #stealAfterTimeout(): void {
    this.#stealing ??= this.#takeIn(STEAL_AFTER_MS)
      .catch(() => {})
      .finally(() => {
        this.#stealing = null
      })
  }

  async #takeIn(ms: number): Promise<void> {
    const nothing = async () => {}
    if (!(await this.#request(ms, nothing))) await navigator.locks.request(this.#name, { steal: true }, nothing)
  }
}
