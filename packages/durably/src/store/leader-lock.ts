// LeaderLock — of all instances that ask for it, in whatever tab, one leads. A Web Lock decides.
//   B1. The leader says now and then that it lives, by a timer. A frozen page keeps its lock, but its timers stop.
//   B2. A leader that was silent for two leases is robbed of the lock: whatever it owned is long over, what it still writes is
//       refused. Not while the database cannot be reached: then there is nothing to be done with the lead.
//   B3. When the page goes away the term ends at once, so that what has settled is given back; if it returns, it queues again.
import type { Env, TimerHandle } from '../model/env.ts'
import type { Leadership, Term } from './leadership.ts'

export interface LeaderLockParts {
  /** Of the lock, and of a channel beside it. */
  name: string
  env: Env
  leaseMs: number
  /** Whether the database can be reached; by default it can. */
  isReachable?: () => Promise<boolean>
}

/** Four times in a lease. */
const beatMs = (leaseMs: number) => Math.max(200, leaseMs / 4)

export class LeaderLock implements Leadership {
  readonly #parts: LeaderLockParts
  /** Until a page that was put aside is shown again. */
  #away: Promise<unknown> | null = null

  constructor(parts: LeaderLockParts) {
    this.#parts = parts
  }

  async take(signal: AbortSignal): Promise<Term | null> {
    if (this.#away) await Promise.race([this.#away, aborted(signal)])
    const queue = new AbortController()
    const leaveQueue = () => queue.abort()
    signal.addEventListener('abort', leaveQueue)
    if (signal.aborted) return null
    const patrol = new Patrol(this.#parts, leaveQueue)
    const term = await this.#request({ signal: queue.signal }, true)
    patrol.stop()
    signal.removeEventListener('abort', leaveQueue)
    if (term || signal.aborted) return term
    return this.#request({ steal: true }, false)
  }

  async takeIfFree(): Promise<Term | null> {
    return this.#away ? null : this.#request({ ifAvailable: true }, true)
  }

  #request(options: LockOptions, inherits: boolean): Promise<Term | null> {
    return new Promise((resolve) => {
      const reign = new Reign(this.#parts, inherits, () => this.#putAside())
      navigator.locks
        .request(this.#parts.name, options, (lock) => {
          if (!lock) return resolve(null)
          resolve(reign)
          return reign.begin()
        })
        .catch(() => resolve(null))
        .finally(() => reign.end())
    })
  }

  #putAside(): void {
    this.#away = new Promise<unknown>((resolve) => globalThis.addEventListener('pageshow', resolve, { once: true })).then(() => {
      this.#away = null
    })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** A term, from the lock's grant to its end. */
class Reign implements Term {
  readonly inherits: boolean
  readonly #parts: LeaderLockParts
  readonly #ended = new AbortController()
  readonly #page = new AbortController()
  readonly #onPageHide: () => void
  #beat: { channel: BroadcastChannel; timer: TimerHandle } | null = null
  #release: () => void = () => {}
  #isReleased = false

  constructor(parts: LeaderLockParts, inherits: boolean, onPageHide: () => void) {
    this.#parts = parts
    this.inherits = inherits
    this.#onPageHide = onPageHide
  }

  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Resolves when the lock shall be given back. */
  begin(): Promise<void> {
    this.#sayAlive(new BroadcastChannel(this.#parts.name))
    globalThis.addEventListener('pagehide', () => this.#putAside(), { signal: this.#page.signal })
    return new Promise((resolve) => {
      this.#release = resolve
      if (this.#isReleased) resolve()
    })
  }

  release(): void {
    this.#isReleased = true
    this.#release()
  }

  #sayAlive(channel: BroadcastChannel): void {
    const { env, leaseMs } = this.#parts
    channel.postMessage(ALIVE)
    this.#beat = { channel, timer: env.timer(beatMs(leaseMs), () => this.#sayAlive(channel)) }
  }

  #putAside(): void {
    this.#onPageHide()
    this.#ended.abort()
  }

  /** The lock is gone: given back, or robbed. */
  end(): void {
    if (this.#beat) this.#parts.env.clear(this.#beat.timer)
    this.#beat?.channel.close()
    this.#page.abort()
    if (!this.#isReleased) this.#ended.abort()
  }
}

/** Hears whether the leader lives, as long as somebody waits for its lock. */
class Patrol {
  readonly #parts: LeaderLockParts
  readonly #channel: BroadcastChannel
  readonly #onSilent: () => void
  #heardAt: number
  #timer: TimerHandle

  constructor(parts: LeaderLockParts, onSilent: () => void) {
    this.#parts = parts
    this.#onSilent = onSilent
    this.#heardAt = parts.env.mono()
    this.#channel = new BroadcastChannel(parts.name)
    this.#channel.onmessage = ({ data }) => {
      if (data === ALIVE) this.#heardAt = parts.env.mono()
    }
    this.#timer = this.#later()
  }

  stop(): void {
    this.#parts.env.clear(this.#timer)
    this.#channel.close()
    this.#timer = null
  }

  #later(): TimerHandle {
    const { env, leaseMs } = this.#parts
    return env.timer(beatMs(leaseMs), () => void this.#look())
  }

  async #look(): Promise<void> {
    const { env, leaseMs, isReachable = async () => true } = this.#parts
    const canWork = await isReachable()
    if (this.#timer === null) return
    if (!canWork) this.#heardAt = env.mono()
    if (env.mono() - this.#heardAt > 2 * leaseMs) return this.#onSilent()
    this.#timer = this.#later()
  }
}

const ALIVE = 'alive'
