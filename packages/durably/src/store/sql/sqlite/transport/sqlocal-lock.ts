// SqlocalLock — one tab at a time uses a SQLocal file: a Web Lock of its name.
//   - It keeps the order among us. What keeps the file whole are SQLite's own locks below it.
//   - So it can be taken from a tab that was frozen with it. A tab that was frozen with SQLite's in hand keeps the file shut.
import type { Env } from '../../../../model/env.ts'
import { DurablyError } from '../../../../model/errors.ts'

/** A tab that holds the lock for longer is stuck: the caller shall know. */
const PATIENCE_MS = 5000
/** And for so much longer, frozen: no opening takes as long. */
const SIEGE_MS = 30_000

export class SqlocalLock {
  readonly #env: Env
  readonly #name: string
  #siege: Promise<unknown> | null = null

  constructor(env: Env, name: string) {
    this.#env = env
    this.#name = name
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    // A server that renders the page makes the client too.
    if (!globalThis.navigator?.locks) return work()
    let result: Promise<T> | undefined
    await this.#request(PATIENCE_MS, () => {
      result = work()
      return result
    })
    // What was begun ends, also if the lock was taken from us meanwhile.
    if (result) return result
    this.#besiege()
    throw new DurablyError('store_busy', `another tab has held the database for ${PATIENCE_MS} ms`)
  }

  /** True when `work` was begun, however it ended. */
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

  /** Queues for all calls of this instance, and takes the lock from whoever does not give it back. */
  #besiege(): void {
    this.#siege ??= this.#takeIn(SIEGE_MS)
      .catch(() => {})
      .finally(() => {
        this.#siege = null
      })
  }

  async #takeIn(ms: number): Promise<void> {
    const nothing = async () => {}
    if (!(await this.#request(ms, nothing))) await navigator.locks.request(this.#name, { steal: true }, nothing)
  }
}
