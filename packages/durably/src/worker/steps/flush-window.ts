// FlushWindow — when the streams of a worker write what they have put out: all in the same turn, so that their writes share one commit and one
// notification. The first output opens the window; whatever any stream puts out until it closes is written then.
import type { Env, TimerHandle } from '../../model/env.ts'
import type { Store } from '../../store/store.ts'

const FLUSH_WITHIN_MS = 50

type Flush = () => void

export class FlushWindow {
  readonly #env: Env
  readonly #waiting = new Set<Flush>()
  #timer: TimerHandle | null = null

  constructor(env: Env) {
    this.#env = env
  }

  /** Calls `flush` when the window closes. */
  add(flush: Flush): void {
    this.#waiting.add(flush)
    this.#timer ??= this.#env.timer(FLUSH_WITHIN_MS, () => this.#close())
  }

  /** It has nothing to write any more. */
  delete(flush: Flush): void {
    this.#waiting.delete(flush)
    if (this.#waiting.size > 0 || this.#timer === null) return
    this.#env.clear(this.#timer)
    this.#timer = null
  }

  #close(): void {
    this.#timer = null
    const flushes = [...this.#waiting]
    this.#waiting.clear()
    for (const flush of flushes) flush()
  }
}

const windows = new WeakMap<Store, FlushWindow>()

/** One for all streams whose writes go to this store, and so into the same commits. */
export function flushWindowOf({ store, env }: { store: Store; env: Env }): FlushWindow {
  const window = windows.get(store) ?? new FlushWindow(env)
  windows.set(store, window)
  return window
}
