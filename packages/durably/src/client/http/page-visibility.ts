// PageVisibility — whether anybody can see the page. A tab that was hidden for a while lets its connections go: a browser allows
// few per server, and the cursors bring everything back.
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

  /** Calls back whenever the page has been hidden for a while; the answer forgets it. */
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

  /** Resolves when the page is not away, or the last who asked to be called has left. */
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
