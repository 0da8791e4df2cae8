// FollowedLogs — reads the event logs of one or several runs to their ends, a page at a time: what is stored, then what is new.
//   F1. It holds no more than one page of all logs together: the reader has finished a page when it asks for the next.
//   F2. The runs take turns: one with many events does not delay the others.
//   F3. A log without new events is read again when something happened to its run, not before.
import { unlessAborted } from '../model/abort.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { TerminalStatus } from '../model/run.ts'
import { Waiter } from '../model/waiter.ts'
import { EventLogReader, type EventLogReaderDeps } from './event-log-reader.ts'
import type { RunWatch } from './run-watch.ts'

export interface FollowDeps extends EventLogReaderDeps {
  watch: RunWatch
}

export type Followed = { runId: string } & ({ events: readonly RunLogEvent[] } | { ended: TerminalStatus })

export interface FollowStart {
  runId: string
  after: number
}

export interface FollowOptions {
  /**
   * Whether a run is watched while the reader works on its events. This saves one read per page, and needs a reader that surely calls
   * `close`. Otherwise the run is watched only while the reader waits for more.
   */
  watchesBetweenPages: boolean
}

interface Follower {
  runId: string
  log: EventLogReader
  /** Something happened to the run since its log was read. */
  isWoken: boolean
  unwatch?: () => void
}

export class FollowedLogs {
  readonly #deps: FollowDeps
  readonly #options: FollowOptions
  /** The runs that are still followed. */
  readonly #open = new Map<string, Follower>()
  /** Whose logs may have something new. */
  readonly #ready: Follower[] = []
  readonly #waiter = new Waiter()

  constructor(deps: FollowDeps, starts: readonly FollowStart[], options: FollowOptions) {
    this.#deps = deps
    this.#options = options
    for (const { runId, after } of starts) {
      const follower = { runId, log: new EventLogReader(deps, runId, after), isWoken: true }
      this.#open.set(runId, follower)
      this.#ready.push(follower)
    }
  }

  get runIds(): string[] {
    return [...this.#open.keys()]
  }

  /**
   * The next events of any of the runs; `null` when all have ended, or the signal has aborted. It throws when a run does not exist (any
   * more); the others can be followed on after `drop`.
   */
  async next(signal: AbortSignal): Promise<Followed | null> {
    while (this.#open.size > 0 && !signal.aborted) {
      const follower = this.#ready.shift()
      if (!follower) await unlessAborted(signal, this.#waiter.wait())
      else if (this.#open.has(follower.runId)) {
        const followed = await this.#read(follower, signal)
        if (!followed || !this.#open.has(follower.runId) || signal.aborted) continue
        if (!('events' in followed)) this.drop(follower.runId)
        return followed
      }
    }
    return null
  }

  /** Stops following a run. */
  drop(runId: string): void {
    this.#open.get(runId)?.unwatch?.()
    this.#open.delete(runId)
    this.#waiter.wake()
  }

  close(): void {
    for (const runId of this.runIds) this.drop(runId)
  }

  async #read(follower: Follower, signal: AbortSignal): Promise<Followed | null> {
    const { runId, log, isWoken } = follower
    const { changed, saw, done } = this.#deps.watch.next(runId)
    follower.unwatch = done
    const page = await log.read(signal, isWoken)
    saw(log.cursor)
    if ('ended' in page) return { runId, ...page }
    const { events, isAll } = page
    if (isAll && (this.#options.watchesBetweenPages || events.length === 0)) void changed.then(() => this.#isReady(follower, true))
    else this.#isReady(follower, false)
    return events.length > 0 ? { runId, events } : null
  }

  #isReady(follower: Follower, isWoken: boolean): void {
    follower.unwatch?.()
    follower.isWoken = isWoken
    this.#ready.push(follower)
    this.#waiter.wake()
  }
}
