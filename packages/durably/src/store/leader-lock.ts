// LeaderLock — of all instances that ask for it, in whatever tab, one leads. A Web Lock decides.
//   B1. The leader says now and then that it lives, by a timer. A frozen page keeps its lock, but its timers stop.
//   B2. A leader that was silent for two leases is robbed of the lock: whatever it owned is long over, what it still writes is
//       refused. Not while the database cannot be reached: then there is nothing to be done with the lead. And not by one that
//       stood still itself, for it could not hear.
//   B3. Who stood still may have got the lock and been robbed of it unheard: it inherits only within a lease of when it was last
//       awake before the grant.
//   B4. When the page goes away the term ends at once, so that what has settled is given back; if it returns, it queues again.
import type { Env, TimerHandle } from '../model/env.ts'
import type { Leadership, Term } from './leadership.ts'

/** What a page has from its browser; a simulation brings its own. */
export interface Page {
  requestLock(name: string, options: LockOptions, granted: (lock: unknown) => Promise<void> | undefined): Promise<unknown>
  openChannel(name: string): Channel
  on(type: 'pagehide' | 'pageshow', listener: () => void, options: AddEventListenerOptions): void
}

export interface Channel {
  onmessage: ((event: MessageEvent) => void) | null
  postMessage(message: unknown): void
  close(): void
}

const BROWSER: Page = {
  requestLock: (name, options, granted) => navigator.locks.request(name, options, granted),
  openChannel: (name) => new BroadcastChannel(name),
  on: (...listening) => globalThis.addEventListener(...listening),
}

export interface LeaderLockParts {
  /** Of the lock, and of a channel beside it. */
  name: string
  env: Env
  leaseMs: number
  /** Whether the database can be reached; by default it can. */
  isReachable?: () => Promise<boolean>
  page?: Page
}

type Parts = LeaderLockParts & { page: Page }

/** Four times in a lease. */
const beatMs = (leaseMs: number) => Math.max(200, leaseMs / 4)

export class LeaderLock implements Leadership {
  readonly #parts: Parts
  /** Until a page that was put aside is shown again. */
  #away: Promise<unknown> | null = null

  constructor(parts: LeaderLockParts) {
    this.#parts = { page: BROWSER, ...parts }
  }

  async take(signal: AbortSignal): Promise<Term | null> {
    if (this.#away && !signal.aborted) await Promise.race([this.#away, aborted(signal)])
    const queued = await this.#queue(signal)
    return queued === 'silent' ? this.#request({ steal: true }, () => NEVER) : queued
  }

  async takeIfFree(): Promise<Term | null> {
    if (this.#away) return null
    const askedAt = momentOf(this.#parts.env)
    return this.#request({ ifAvailable: true }, () => askedAt)
  }

  /** `silent`: it is time to take the lock from whoever has it. */
  async #queue(signal: AbortSignal): Promise<Term | 'silent' | null> {
    if (signal.aborted) return null
    const queue = new AbortController()
    const leaveQueue = () => queue.abort()
    signal.addEventListener('abort', leaveQueue)
    let isSilent = false
    const patrol = new Patrol(this.#parts, () => {
      isSilent = true
      leaveQueue()
    })
    try {
      const term = await this.#request({ signal: queue.signal }, () => patrol.lookedAt)
      return !term && isSilent && !signal.aborted ? 'silent' : term
    } finally {
      patrol.stop()
      signal.removeEventListener('abort', leaveQueue)
    }
  }

  /** `awakeAt`: when it was last known to be awake before the lock was granted; never, for one that inherits nothing. */
  #request(options: LockOptions, awakeAt: () => Moment): Promise<Term | null> {
    return new Promise((resolve, reject) => {
      const { name, page } = this.#parts
      const reign = new Reign(this.#parts, () => this.#putAside())
      page
        .requestLock(name, options, (lock) => {
          if (!lock) return void resolve(null)
          resolve(reign)
          return reign.begin(awakeAt())
        })
        .catch((error) => (options.signal?.aborted ? resolve(null) : reject(error)))
        .finally(() => reign.end())
    })
  }

  #putAside(): void {
    const { page } = this.#parts
    this.#away = new Promise<void>((resolve) => page.on('pageshow', resolve, { once: true })).then(() => {
      this.#away = null
    })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

interface Moment {
  mono: number
  wall: number
}

const NEVER: Moment = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }

function momentOf(env: Env): Moment {
  return { mono: env.mono(), wall: env.wall() }
}

/** A term, from the lock's grant to its end. */
class Reign implements Term {
  readonly #parts: Parts
  readonly #ended = new AbortController()
  readonly #over = new AbortController()
  readonly #onPageHide: () => void
  #beat: { channel: Channel; timer: TimerHandle } | null = null
  #release: () => void = () => {}
  #isReleased = false
  /** For a lease from then on nobody can have taken it away unheard. */
  #awakeAt = NEVER

  constructor(parts: Parts, onPageHide: () => void) {
    this.#parts = parts
    this.#onPageHide = onPageHide
  }

  get inherits(): boolean {
    const { env, leaseMs } = this.#parts
    const { mono, wall } = this.#awakeAt
    // A machine that sleeps stops one of the clocks: the larger difference counts.
    return !this.#ended.signal.aborted && Math.max(env.mono() - mono, env.wall() - wall) < leaseMs
  }

  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Resolves when the lock shall be given back. */
  begin(awakeAt: Moment): Promise<void> {
    const { name, page } = this.#parts
    this.#awakeAt = awakeAt
    this.#sayAlive(page.openChannel(name))
    page.on('pagehide', () => this.#putAside(), { signal: this.#over.signal })
    return new Promise((resolve) => {
      this.#release = resolve
      if (this.#isReleased) resolve()
    })
  }

  release(): void {
    this.#isReleased = true
    this.#release()
  }

  #sayAlive(channel: Channel): void {
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
    this.#over.abort()
    if (!this.#isReleased) this.#ended.abort()
  }
}

/** Hears whether the leader lives, as long as somebody waits for its lock. */
class Patrol {
  readonly #parts: Parts
  readonly #channel: Channel
  readonly #onSilent: () => void
  #heardAt: number
  /** When it was last awake. */
  lookedAt: Moment
  #timer: TimerHandle

  constructor(parts: Parts, onSilent: () => void) {
    this.#parts = parts
    this.#onSilent = onSilent
    this.#heardAt = parts.env.mono()
    this.lookedAt = momentOf(parts.env)
    const { name, page } = parts
    this.#channel = page.openChannel(name)
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
    const wasAsleep = env.mono() - this.lookedAt.mono > leaseMs
    const canWork = await isReachable()
    if (this.#timer === null) return
    this.lookedAt = momentOf(env)
    if (wasAsleep || !canWork) this.#heardAt = env.mono()
    if (env.mono() - this.#heardAt > 2 * leaseMs) return this.#onSilent()
    this.#timer = this.#later()
  }
}

const ALIVE = 'alive'
