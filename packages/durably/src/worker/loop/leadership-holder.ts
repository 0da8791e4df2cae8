// LeadershipHolder — whether this worker may claim; always, where nobody else could.
//   - A term lasts while anybody here uses it, runs in hand included: their leases are not for others to inherit.
//   - What a term inherits is taken back before the first claim in it. Later it could be our own.
import type { LeadState } from '../../model/event.ts'
import type { Leadership, Term } from '../../store/leadership.ts'

interface LeadershipHolderDeps {
  /** Null where every instance may execute. */
  leadership: Leadership | null
  /** Takes back all that is left running, as far as the term inherits it. */
  takeBack: (term: Term) => Promise<unknown>
  tell: (state: LeadState) => void
  /** The term is over, by somebody else's doing. */
  onEnd: () => void
}

export class LeadershipHolder {
  readonly #deps: LeadershipHolderDeps
  #users = 0
  #term: Term | null = null
  #hasInherited = false
  #inheriting: Promise<unknown> | null = null
  #waiting: AbortController | null = null
  #trying: Promise<void> | null = null

  constructor(deps: LeadershipHolderDeps) {
    this.#deps = deps
  }

  get isHeld(): boolean {
    return this.#deps.leadership === null || (this.#term !== null && !this.#term.ended.aborted)
  }

  join(): void {
    this.#users++
  }

  leave(): void {
    if (--this.#users > 0) return
    this.#term?.release()
    this.#term = null
  }

  /** Until this worker leads, or `giveUp` is called. */
  async wait(): Promise<void> {
    const { leadership } = this.#deps
    if (!leadership) return
    const waiting = new AbortController()
    this.#waiting = waiting
    try {
      await this.#trying
      if (this.isHeld || waiting.signal.aborted) return
      // One that has ended may still keep others out.
      this.#begin(null)
      const free = await leadership.takeIfFree()
      if (!free && !waiting.signal.aborted) this.#deps.tell('waiting')
      this.#begin(free ?? (await leadership.take(waiting.signal)))
    } finally {
      this.#waiting = null
    }
  }

  giveUp(): void {
    this.#waiting?.abort()
  }

  /** Whether this worker leads, or does so now because nobody else did. */
  async tryNow(): Promise<boolean> {
    const { leadership } = this.#deps
    if (!leadership || this.isHeld || this.#waiting) return this.isHeld
    this.#trying ??= this.#takeIfFree(leadership).finally(() => {
      this.#trying = null
    })
    await this.#trying
    return this.isHeld
  }

  /** To be awaited before a claim. */
  async inherit(): Promise<void> {
    const term = this.#term
    if (!term?.inherits || this.#hasInherited) return
    this.#inheriting ??= this.#deps.takeBack(term).finally(() => {
      this.#inheriting = null
    })
    await this.#inheriting
    this.#hasInherited = true
  }

  async #takeIfFree(leadership: Leadership): Promise<void> {
    this.#begin(await leadership.takeIfFree())
  }

  #begin(term: Term | null): void {
    this.#term?.release()
    this.#term = null
    this.#hasInherited = false
    if (!term) return
    // It came when nobody wants it any more.
    if (this.#users === 0) return term.release()
    this.#term = term
    term.ended.addEventListener('abort', this.#deps.onEnd)
    this.#deps.tell('leading')
  }
}
