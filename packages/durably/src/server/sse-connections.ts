// SseConnections — the open event streams of a server: it limits how many each principal has, and authorizes them again.
//   O1. A stream counts from before its first byte until it ends, however it ends.
//   O2. Once per polling interval each open stream is authorized again. One timer serves all streams, and there is none without streams.
import type { Env, TimerHandle } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'

export interface SseConnection {
  /** Authorizes the stream again, and ends it if it is no longer allowed. It never rejects. */
  recheck(): Promise<void>
  end(): void
}

export interface SseConnectionsDeps {
  env: Env
  intervalMs: number
  maxPerPrincipal: number
}

export class SseConnections {
  readonly #deps: SseConnectionsDeps
  readonly #connections = new Set<SseConnection>()
  readonly #counts = new Map<string, number>()
  readonly #asking = new Set<SseConnection>()
  #timer: TimerHandle | null = null
  #isClosed = false

  constructor(deps: SseConnectionsDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#connections.size
  }

  /** Counts one more stream; the returned function takes it away again. */
  open(principal: string, connection: SseConnection): () => void {
    const { maxPerPrincipal, env, intervalMs } = this.#deps
    if (this.#isClosed) throw new DurablyError('shutdown', 'this server is closing; connect again to reach another instance')
    const count = this.#counts.get(principal) ?? 0
    if (count >= maxPerPrincipal)
      throw new DurablyError('too_many_streams', `at most ${maxPerPrincipal} streams may be open at once; close one`)
    this.#counts.set(principal, count + 1)
    this.#connections.add(connection)
    this.#timer ??= env.timer(intervalMs, () => this.#recheck())
    return () => this.#leave(principal, connection)
  }

  /** Ends all streams, and refuses new ones. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections) connection.end()
  }

  #leave(principal: string, connection: SseConnection): void {
    if (!this.#connections.delete(connection)) return
    const count = (this.#counts.get(principal) ?? 1) - 1
    if (count === 0) this.#counts.delete(principal)
    else this.#counts.set(principal, count)
    if (this.#connections.size > 0 || this.#timer === null) return
    this.#deps.env.clear(this.#timer)
    this.#timer = null
  }

  #recheck(): void {
    const { env, intervalMs } = this.#deps
    this.#timer = env.timer(intervalMs, () => this.#recheck())
    for (const connection of this.#connections) {
      // A check that takes longer than an interval is not started twice.
      if (this.#asking.has(connection)) continue
      this.#asking.add(connection)
      connection.recheck().finally(() => this.#asking.delete(connection))
    }
  }
}
