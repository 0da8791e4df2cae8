// FollowedLogs — reads the event logs of several runs at once, a page at a time.
//   F1. It holds no more than one page of all logs together: the reader has finished a page when it asks for the next.
//   F2. The runs take turns: one with many events does not delay the others.
//   F3. A log without new events is read again when something happened to its run, not before.
import { unlessAborted } from '../model/abort.ts'
import { hasCode } from '../model/errors.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { TerminalStatus } from '../model/run.ts'
import { Waiter } from '../model/waiter.ts'
import { EventLogReader } from './event-log-reader.ts'
import type { TailDeps } from './tail.ts'

export type Followed = { runId: string } & ({ events: readonly RunLogEvent[] } | { ended: TerminalStatus } | { gone: true })

export interface FollowStart {
  runId: string
  after: number
}

interface Follower {
  runId: string
  reader: EventLogReader
}

export class FollowedLogs {
  readonly #deps: TailDeps
  /** The runs that are still followed. */
  readonly #open = new Map<string, Follower>()
  /** Whose logs may have something new. */
  readonly #ready: Follower[] = []
  /** Per waiting run, the function that ends its watch. */
  readonly #waiting = new Map<string, () => void>()
  readonly #waiter = new Waiter()

  constructor(deps: TailDeps, starts: readonly FollowStart[]) {
    this.#deps = deps
    for (const { runId, after } of starts) {
      const follower = { runId, reader: new EventLogReader(deps, runId, after) }
      this.#open.set(runId, follower)
      this.#ready.push(follower)
    }
  }

  get runIds(): string[] {
    return [...this.#open.keys()]
  }

  /** The next events of any of the runs; `null` when all have ended, or the signal has aborted. */
  async next(signal: AbortSignal): Promise<Followed | null> {
    while (this.#open.size > 0 && !signal.aborted) {
      const follower = this.#ready.shift()
      if (!follower) await unlessAborted(signal, this.#waiter.wait())
      else if (this.#open.get(follower.runId) === follower) {
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
    this.#open.delete(runId)
    this.#waiting.get(runId)?.()
    this.#waiting.delete(runId)
    this.#waiter.wake()
  }

  close(): void {
    for (const runId of this.runIds) this.drop(runId)
  }

  async #read(follower: Follower, signal: AbortSignal): Promise<Followed | null> {
    const { runId, reader } = follower
    const { changed, done } = this.#deps.watch.next(runId)
    let isWaiting = false
    try {
      const page = await reader.read(signal, true)
      if ('ended' in page) return { runId, ...page }
      const { events, isAll } = page
      isWaiting = isAll && this.#open.has(runId)
      if (isWaiting) this.#wait(follower, changed, done)
      else if (!isAll) this.#ready.push(follower)
      return events.length > 0 ? { runId, events } : null
    } catch (error) {
      if (hasCode(error, 'run_deleted') || hasCode(error, 'run_not_found')) return { runId, gone: true }
      throw error
    } finally {
      if (!isWaiting) done()
    }
  }

  #wait(follower: Follower, changed: Promise<void>, done: () => void): void {
    this.#waiting.set(follower.runId, done)
    changed.then(() => {
      if (!this.#waiting.delete(follower.runId)) return
      done()
      this.#ready.push(follower)
      this.#waiter.wake()
    })
  }
}
