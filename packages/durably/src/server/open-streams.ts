// OpenStreams — the streams of a server: how many each principal has, and whether each is still allowed.
//   O1. A stream counts from before its first word until it ends, however it ends.
//   O2. Once per polling interval each open stream asks again; one clock for all of them, none while there are none.
import type { Env, TimerHandle } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'

export interface OpenStream {
  /** Asks whether it may go on, and ends it if not; never rejects. */
  recheck(): Promise<void>
  end(): void
}

export interface OpenStreamsParts {
  env: Env
  intervalMs: number
  maxPerPrincipal: number
}

export class OpenStreams {
  readonly #parts: OpenStreamsParts
  readonly #streams = new Set<OpenStream>()
  readonly #counts = new Map<string, number>()
  readonly #asking = new Set<OpenStream>()
  #timer: TimerHandle | null = null
  #isClosed = false

  constructor(parts: OpenStreamsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#streams.size
  }

  /** Counts one more; what it returns takes it away again. */
  open(principal: string, stream: OpenStream): () => void {
    const { maxPerPrincipal, env, intervalMs } = this.#parts
    if (this.#isClosed) throw new DurablyError('shutdown', 'this server is closing; connect again to reach another')
    const count = this.#counts.get(principal) ?? 0
    if (count >= maxPerPrincipal)
      throw new DurablyError('too_many_streams', `at most ${maxPerPrincipal} streams may be open at once; close one`)
    this.#counts.set(principal, count + 1)
    this.#streams.add(stream)
    this.#timer ??= env.timer(intervalMs, () => this.#recheck())
    return () => this.#leave(principal, stream)
  }

  /** Ends them all, and lets no more begin. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#streams) stream.end()
  }

  #leave(principal: string, stream: OpenStream): void {
    if (!this.#streams.delete(stream)) return
    const count = (this.#counts.get(principal) ?? 1) - 1
    if (count === 0) this.#counts.delete(principal)
    else this.#counts.set(principal, count)
    if (this.#streams.size > 0 || this.#timer === null) return
    this.#parts.env.clear(this.#timer)
    this.#timer = null
  }

  #recheck(): void {
    const { env, intervalMs } = this.#parts
    this.#timer = env.timer(intervalMs, () => this.#recheck())
    for (const stream of this.#streams) {
      // Who takes longer than an interval to answer is not asked twice at once.
      if (this.#asking.has(stream)) continue
      this.#asking.add(stream)
      stream.recheck().finally(() => this.#asking.delete(stream))
    }
  }
}
