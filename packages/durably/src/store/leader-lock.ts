// LeaderLock — elects one leader among all instances in all tabs. A Web Lock decides.
//   B1. The leader sends a heartbeat by a timer. A frozen page keeps its lock, but its timers stop.
//   B2. If the leader was silent for two leases, another instance steals the lock: the leases of the old leader are long over, and what
//       it still writes is refused. The lock is not stolen while the database cannot be reached, because a leader could do nothing
//       then, nor by an instance that was frozen itself, because it could not receive the heartbeats.
//       It must be silent at two looks in a row: heartbeats that were waiting for a frozen instance arrive between them. If it was frozen
//       between the two, for longer than another instance needs to become the leader and be heard, silence counts from then on.
//   B3. An instance that was frozen may have got the lock and lost it again without noticing. It inherits only within a lease of the
//       time when it was last known to be awake before the grant.
//   B4. When its page is hidden for good or put into the back/forward cache, the term ends at once, so that finished work is given
//       back. If the page is shown again, it queues again.
//   B5. A leader from whom the lock was stolen may have leases that are not over, and execute when it wakes. So whoever leads also holds a second
//       lock, which is shared and cannot be stolen, until a lease after it lost the first one. A term inherits only if nobody else holds it.
import { unlessAborted } from '../model/abort.ts'
import type { Env, TimerHandle } from '../model/env.ts'
import { elapsedMs, type Moment, momentOf } from '../model/moment.ts'
import type { Leadership, Term } from './leadership.ts'

/** What the lock needs from the browser; a simulation brings its own. */
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

export interface LeaderLockDeps {
  /** The name of the lock, and of a broadcast channel beside it. */
  name: string
  env: Env
  leaseMs: number
  /** Whether the database can be reached; by default it can. */
  isReachable?: () => Promise<boolean>
  page?: Page
}

type Deps = LeaderLockDeps & { page: Page }

/** Four times in a lease. */
const beatMs = (leaseMs: number) => Math.max(200, leaseMs / 4)

/** The end of the name of the second lock (B5). */
export const EXECUTING = ':executing'

export class LeaderLock implements Leadership {
  readonly #deps: Deps
  /** Resolves when a page that was hidden is shown again; null while it is shown. */
  #untilShown: Promise<unknown> | null = null

  constructor(deps: LeaderLockDeps) {
    this.#deps = { page: BROWSER, ...deps }
  }

  async take(signal: AbortSignal): Promise<Term | null> {
    if (this.#untilShown) await unlessAborted(signal, this.#untilShown)
    const queued = await this.#queue(signal)
    return queued === 'leader silent' ? this.#request({ steal: true }, () => NEVER) : queued
  }

  async takeIfFree(): Promise<Term | null> {
    if (this.#untilShown) return null
    const askedAt = momentOf(this.#deps.env)
    return this.#request({ ifAvailable: true }, () => askedAt)
  }

  /** Answers `leader silent` when it is time to steal the lock. */
  async #queue(signal: AbortSignal): Promise<Term | 'leader silent' | null> {
    if (signal.aborted) return null
    const queue = new AbortController()
    const leaveQueue = () => queue.abort()
    signal.addEventListener('abort', leaveQueue)
    let isLeaderSilent = false
    const watch = new LeaderWatch(this.#deps, () => {
      isLeaderSilent = true
      leaveQueue()
    })
    try {
      const term = await this.#request({ signal: queue.signal }, () => watch.awakeAt)
      return !term && isLeaderSilent && !signal.aborted ? 'leader silent' : term
    } finally {
      watch.stop()
      signal.removeEventListener('abort', leaveQueue)
    }
  }

  /** `awakeAt`: when this instance was last known to be awake before the grant; `NEVER` for a term that inherits nothing. */
  #request(options: LockOptions, awakeAt: () => Moment): Promise<Term | null> {
    return new Promise((resolve, reject) => {
      const { name, page } = this.#deps
      const held = new HeldTerm(this.#deps, () => this.#onHidden())
      page
        .requestLock(name, options, (lock) => {
          if (!lock) return void resolve(null)
          const untilReleased = held.begin(awakeAt())
          resolve(held.enter().then(() => held))
          return untilReleased
        })
        .catch((error) => (options.signal?.aborted ? resolve(null) : reject(error)))
        .finally(() => held.end())
    })
  }

  #onHidden(): void {
    const { page } = this.#deps
    this.#untilShown = new Promise<void>((resolve) => page.on('pageshow', resolve, { once: true })).then(() => {
      this.#untilShown = null
    })
  }
}

const NEVER: Moment = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }

/** A term, from the grant of the lock to its end. */
class HeldTerm implements Term {
  readonly #deps: Deps
  readonly #ended = new AbortController()
  readonly #over = new AbortController()
  readonly #onPageHide: () => void
  #beat: { channel: Channel; timer: TimerHandle } | null = null
  #release: () => void = () => {}
  #isReleased = false
  /** Within a lease from then on the lock cannot have been stolen without this instance having noticed. */
  #awakeAt = NEVER
  /** Nobody who led before can still execute. */
  #isAlone = false
  #leave: () => void = () => {}
  readonly #left = new Promise<void>((resolve) => {
    this.#leave = resolve
  })

  constructor(deps: Deps, onPageHide: () => void) {
    this.#deps = deps
    this.#onPageHide = onPageHide
  }

  get inherits(): boolean {
    const { env, leaseMs } = this.#deps
    return !this.#ended.signal.aborted && elapsedMs(env, this.#awakeAt) < leaseMs && this.#isAlone
  }

  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Resolves when the lock is to be released. */
  begin(awakeAt: Moment): Promise<void> {
    const { name, page, env } = this.#deps
    this.#awakeAt = awakeAt
    // An instance that stole the lock is awake, and sends a heartbeat at once, so that the next one in the queue does not steal it in turn.
    this.#beatAndRepeat(page.openChannel(name), awakeAt === NEVER ? momentOf(env) : awakeAt)
    page.on('pagehide', () => this.#onHidden(), { signal: this.#over.signal })
    return new Promise((resolve) => {
      this.#release = resolve
      if (this.#isReleased) resolve()
    })
  }

  /** Finds out whether somebody else may still execute. From then on this instance may. */
  async enter(): Promise<void> {
    const { name, page } = this.#deps
    const lock = name + EXECUTING
    await page.requestLock(lock, { mode: 'exclusive', ifAvailable: true }, (free) => {
      this.#isAlone = free !== null
      return undefined
    })
    await new Promise<void>((resolve, reject) => {
      const granted = () => {
        resolve()
        return this.#left
      }
      page.requestLock(lock, { mode: 'shared' }, granted).catch(reject)
    })
  }

  release(): void {
    this.#isReleased = true
    // First, so that the next leader finds it free.
    this.#leave()
    this.#release()
  }

  /**
   * After a pause of a lease or more the lock may have been stolen without this instance having noticed yet. Then one heartbeat is left
   * out, so that it does not look like one of the new leader.
   */
  #beatAndRepeat(channel: Channel, lastAt: Moment): void {
    const { env, leaseMs } = this.#deps
    if (elapsedMs(env, lastAt) < leaseMs) channel.postMessage(ALIVE)
    const beatAt = momentOf(env)
    this.#beat = { channel, timer: env.timer(beatMs(leaseMs), () => this.#beatAndRepeat(channel, beatAt)) }
  }

  #onHidden(): void {
    this.#onPageHide()
    this.#ended.abort()
  }

  /** The lock was released or stolen. */
  end(): void {
    if (this.#beat) this.#deps.env.clear(this.#beat.timer)
    this.#beat?.channel.close()
    this.#over.abort()
    if (this.#isReleased) return
    this.#ended.abort()
    const { env, leaseMs } = this.#deps
    env.timer(leaseMs, () => this.#leave())
  }
}

/** Receives the heartbeats of the leader while this instance waits in the queue for its lock. */
class LeaderWatch {
  readonly #deps: Deps
  readonly #channel: Channel
  readonly #onLeaderSilent: () => void
  #lastBeatAt: number
  /** The leader was silent for two leases at the last look. Heartbeats that were waiting for this instance arrive before the next one. */
  #wasSilent = false
  #lookedAt: Moment
  /** When this instance was last known to be awake. It learns of a grant that came while it was frozen before its second look after that. */
  awakeAt: Moment
  #timer: TimerHandle

  constructor(deps: Deps, onLeaderSilent: () => void) {
    this.#deps = deps
    this.#onLeaderSilent = onLeaderSilent
    this.#lastBeatAt = deps.env.mono()
    this.#lookedAt = momentOf(deps.env)
    this.awakeAt = this.#lookedAt
    const { name, page } = deps
    this.#channel = page.openChannel(name)
    this.#channel.onmessage = ({ data }) => {
      if (data === ALIVE) this.#lastBeatAt = deps.env.mono()
    }
    this.#timer = this.#later()
  }

  stop(): void {
    this.#deps.env.clear(this.#timer)
    this.#channel.close()
    this.#timer = null
  }

  #later(): TimerHandle {
    const { env, leaseMs } = this.#deps
    return env.timer(beatMs(leaseMs), () => void this.#look())
  }

  async #look(): Promise<void> {
    const { env, leaseMs, isReachable = async () => true } = this.#deps
    const canWork = await isReachable()
    if (this.#timer === null) return
    // It may have been frozen while it asked, too.
    const wasAsleep = env.mono() - this.#lookedAt.mono > 2 * beatMs(leaseMs)
    const wasFrozen = elapsedMs(env, this.#lookedAt) > leaseMs
    this.#lookedAt = momentOf(env)
    if (!wasFrozen) this.awakeAt = this.#lookedAt
    if (wasAsleep || !canWork) this.#lastBeatAt = env.mono()
    const isSilent = env.mono() - this.#lastBeatAt > 2 * leaseMs
    if (isSilent && this.#wasSilent) return this.#onLeaderSilent()
    this.#wasSilent = isSilent
    this.#timer = this.#later()
  }
}

const ALIVE = 'alive'
