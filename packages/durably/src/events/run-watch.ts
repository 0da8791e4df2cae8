// RunWatch — wakes callers that wait for something to happen to a run.
//   V1. A change wakes at once; one read per polling interval, for all watched runs together, finds changes that were not delivered.
//   V2. A wake-up says nothing about what happened: the waiter reads, then waits again.
import type { Env, TimerHandle } from '../model/env.ts'
import type { EventStore } from '../store/events.ts'

interface Watched {
  /** The last sequence of its event log at the last read. */
  head: number | undefined
  readonly wakes: Set<() => void>
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
    let size = 0
    for (const { wakes } of this.#watched.values()) size += wakes.size
    return size
  }

  touch(runId: string): void {
    for (const wake of this.#watched.get(runId)?.wakes ?? []) wake()
  }

  touchAll(): void {
    for (const runId of this.#watched.keys()) this.touch(runId)
  }

  /** Resolves at the next sign of change; `done` forgets it. Begin to watch before you read, so that nothing is missed. */
  next(runId: string): { changed: Promise<void>; done: () => void } {
    const watched = this.#watched.get(runId) ?? { head: undefined, wakes: new Set() }
    this.#watched.set(runId, watched)
    let wake = () => {}
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    watched.wakes.add(wake)
    if (this.#timer === null) {
      this.#deps.onWatch()
      this.#timer = this.#lookLater()
    }
    const done = () => void watched.wakes.delete(wake)
    return { changed, done }
  }

  #lookLater(): TimerHandle {
    return this.#deps.env.timer(this.#deps.pollingMs, () => void this.#look(), Number.POSITIVE_INFINITY)
  }

  async #look(): Promise<void> {
    // Kept until nobody has waited for a whole interval: a waiter that is reading right now will wait again.
    for (const [runId, { wakes }] of this.#watched) if (wakes.size === 0) this.#watched.delete(runId)
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
      if (head === undefined || head !== watched.head) this.touch(runId)
      watched.head = head
    }
  }
}
