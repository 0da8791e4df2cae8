// LeadershipHolder — whether this worker may claim. Where the store knows no leader, every worker may.
//   - A term is kept while anything here uses it, active executions included, so that the next leader does not take back their runs.
//   - Runs of the leader before are taken back before the first claim of a term; later the list of running runs would include our own.
import type { LeadState } from '../../model/event.ts'
import type { Leadership, Term } from '../../store/leadership.ts'

interface LeadershipHolderDeps {
  /** Null where every instance may execute. */
  leadership: Leadership | null
  /** Takes back the runs that the leader before left running. */
  takeBack: (term: Term) => Promise<unknown>
  announce: (state: LeadState) => void
  /** The term was ended from outside. */
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

  /** Resolves when this worker leads, or `giveUp` is called. */
  async wait(): Promise<void> {
    const { leadership } = this.#deps
    if (!leadership) return
    const waiting = new AbortController()
    this.#waiting = waiting
    try {
      await this.#trying
      if (this.isHeld || waiting.signal.aborted) return
      // A term that has ended may still keep others out until it is released.
      this.#begin(null)
      const free = await leadership.takeIfFree()
      if (!free && !waiting.signal.aborted) this.#deps.announce('waiting')
      this.#begin(free ?? (await leadership.take(waiting.signal)))
    } finally {
      this.#waiting = null
    }
  }

  giveUp(): void {
    this.#waiting?.abort()
  }

  /** Takes the leadership if it is free; true when this worker leads. */
  async tryNow(): Promise<boolean> {
    const { leadership } = this.#deps
    if (!leadership || this.isHeld || this.#waiting) return this.isHeld
    this.#trying ??= this.#takeIfFree(leadership).finally(() => {
      this.#trying = null
    })
    await this.#trying
    return this.isHeld
  }

  /**
   * Takes back the runs of the leader before, if there are any to inherit. To be awaited before a claim: it is decided once per term,
   * because a worker that has runs of its own must not take them back after its clock was set back.
   */
  async inherit(): Promise<void> {
    const term = this.#term
    if (!term || this.#hasInherited) return
    if (term.inherits)
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
    // No caller wants the leadership any more.
    if (this.#users === 0) return term.release()
    this.#term = term
    term.ended.addEventListener('abort', this.#deps.onEnd)
    this.#deps.announce('leading')
  }
}
