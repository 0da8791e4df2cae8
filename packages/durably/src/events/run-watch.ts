// RunWatch — wakes callers that wait for something to happen to a run.
//   V1. A change wakes at once; one read per polling interval, for all watched runs together, finds changes that were not delivered.
//   V2. A wake-up says nothing about what happened: the waiter reads, then waits again.
//   V3. The polling read wakes no waiter that has said that it has seen all of the log: a notification was faster.
//   V4. Who waits for the end of a run is not woken by its steps in this process. What other processes write wakes everybody.
import type { Env, TimerHandle } from '../model/env.ts'
import type { EventStore } from '../store/events.ts'

interface Waiting {
  /** `isHeld`: the owner of the run goes on. */
  wake: (isHeld?: boolean) => void
  /** How far it has read the event log. -1: it reads something else. */
  seen: number
}

interface Watched {
  /** The last sequence of its event log at the last read. */
  head: number | undefined
  readonly waiting: Set<Waiting>
}

export interface Watching {
  /** Resolves at the next sign of change. */
  changed: Promise<void>
  /** The log was read up to this sequence. */
  saw: (sequence: number) => void
  /** Forgets it. */
  done: () => void
}

interface RunWatchDeps {
  events: EventStore
  env: Env
  pollingMs: number
  /** Called when somebody begins to wait: changes of other processes are wanted from now on. */
  onWatch: () => void
}

export class RunWatch {
  readonly #deps: RunWatchDeps
  readonly #watched = new Map<string, Watched>()
  #timer: TimerHandle | null = null

  constructor(deps: RunWatchDeps) {
    this.#deps = deps
  }

  /** How many callers wait. */
  get size(): number {
    return [...this.#watched.values()].flatMap(({ waiting }) => [...waiting]).length
  }

  touch(runId: string, isHeld?: boolean): void {
    for (const { wake } of this.#watched.get(runId)?.waiting ?? []) wake(isHeld)
  }

  touchAll(): void {
    for (const runId of this.#watched.keys()) this.touch(runId)
  }

  /** Begin to watch before you read, so that nothing is missed. `untilEnd`: only the end of the run matters (V4). */
  next(runId: string, untilEnd?: boolean): Watching {
    const watched = this.#watched.get(runId) ?? { head: undefined, waiting: new Set() }
    this.#watched.set(runId, watched)
    const waiting: Waiting = { wake: () => {}, seen: -1 }
    const changed = new Promise<void>((resolve) => {
      waiting.wake = (isHeld) => (isHeld && untilEnd) || resolve()
    })
    watched.waiting.add(waiting)
    if (this.#timer === null) {
      this.#deps.onWatch()
      this.#timer = this.#lookLater()
    }
    const saw = (sequence: number) => {
      waiting.seen = sequence
    }
    return { changed, saw, done: () => void watched.waiting.delete(waiting) }
  }

  #lookLater(): TimerHandle {
    return this.#deps.env.timer(this.#deps.pollingMs, () => void this.#look(), Number.POSITIVE_INFINITY)
  }

  async #look(): Promise<void> {
    // Kept until nobody has waited for a whole interval: a waiter that is reading right now will wait again.
    for (const [runId, { waiting }] of this.#watched) if (waiting.size === 0) this.#watched.delete(runId)
    const runIds = [...this.#watched.keys()]
    try {
      if (runIds.length > 0) this.#compare(runIds, await this.#deps.events.heads(runIds))
    } catch {
      // The waiters read next: each gets the error itself, or goes on when it has passed.
      this.touchAll()
    }
    this.#timer = this.#watched.size > 0 ? this.#lookLater() : null
  }

  #compare(runIds: readonly string[], heads: ReadonlyMap<string, number>): void {
    for (const runId of runIds) {
      const watched = this.#watched.get(runId)
      if (!watched) continue
      const head = heads.get(runId)
      // Without a head the run was deleted.
      if (head === undefined) this.touch(runId)
      else if (head !== watched.head) for (const { wake, seen } of watched.waiting) if (seen < head) wake()
      watched.head = head
    }
  }
}
