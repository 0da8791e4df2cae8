// PageVisibility — whether the page is visible. A tab that is hidden for a while closes its connections, because a browser allows few per
// server. When it is shown again, its subscriptions go on after the last event that they received.
import type { Clock, TimerHandle } from '../../model/env.ts'

const HIDDEN_MS = 5000

export class PageVisibility {
  readonly #env: Clock
  readonly #document: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'> | undefined = globalThis.document
  readonly #leaving = new Set<() => void>()
  #returning: (() => void)[] = []
  #timer: TimerHandle | null = null
  #isAway = false

  constructor(env: Clock) {
    this.#env = env
  }

  get isAway(): boolean {
    return this.#isAway
  }

  /** Calls `leave` whenever the page has been hidden for a while; the returned function removes it. */
  onAway(leave: () => void): () => void {
    if (this.#leaving.size === 0) this.#document?.addEventListener('visibilitychange', this.#look)
    this.#leaving.add(leave)
    this.#look()
    return () => {
      this.#leaving.delete(leave)
      if (this.#leaving.size > 0) return
      this.#document?.removeEventListener('visibilitychange', this.#look)
      this.#isBack()
    }
  }

  /** Resolves when the page is visible, or the last callback was removed. */
  back(): Promise<void> {
    return this.#isAway ? new Promise((resolve) => void this.#returning.push(resolve)) : Promise.resolve()
  }

  readonly #look = (): void => {
    if (this.#document?.visibilityState !== 'hidden') return this.#isBack()
    if (!this.#isAway) this.#timer ??= this.#env.timer(HIDDEN_MS, () => this.#away())
  }

  #away(): void {
    this.#timer = null
    this.#isAway = true
    for (const leave of this.#leaving) leave()
  }

  #isBack(): void {
    if (this.#timer !== null) this.#env.clear(this.#timer)
    this.#timer = null
    this.#isAway = false
    for (const resolve of this.#returning.splice(0)) resolve()
  }
}
