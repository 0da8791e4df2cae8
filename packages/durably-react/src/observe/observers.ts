// Observers — the observers of one client. One is made when a component joins, and removed when the last component has left. Rendering
// alone, as on a server, makes none.
import type { DurablyClient, Run, WatchFilter } from '@coji/durably/client'
import { type Clock, systemClock } from './clock.ts'
import { RunObserver } from './run-observer.ts'
import { RunsObserver } from './runs-observer.ts'

type CancelOutcome = Awaited<ReturnType<DurablyClient['cancel']>>

export class Observers {
  readonly #client: DurablyClient
  readonly #clock: Clock
  readonly #runs = new Map<string, RunObserver>()
  readonly #lists = new Map<string, RunsObserver>()

  constructor(client: DurablyClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  joinRun(runId: string, listener: () => void, options: { history: boolean }): () => void {
    return this.#run(runId).join(listener, options)
  }

  /** The observer of a run, if a component observes it. */
  run(runId: string): RunObserver | undefined {
    return this.#runs.get(runId)
  }

  joinRuns(key: string, listener: () => void): () => void {
    const list = this.#lists.get(key) ?? this.#newList(key)
    return list.join(listener)
  }

  runs(key: string): RunsObserver | undefined {
    return this.#lists.get(key)
  }

  /** Shows a run that a command has just returned, without reading it again. */
  know(run: Run): void {
    this.#run(run.id).know(run)
  }

  async cancel(runId: string): Promise<CancelOutcome> {
    const outcome = await this.#client.cancel(runId)
    this.run(runId)?.look()
    return outcome
  }

  async retry(runId: string): Promise<Run> {
    const run = await this.#client.retry(runId)
    this.run(runId)?.know(run)
    return run
  }

  #run(runId: string): RunObserver {
    const known = this.#runs.get(runId)
    if (known) return known
    const onEnd = () => void this.#runs.delete(runId)
    const observer = new RunObserver({ client: this.#client, clock: this.#clock, runId, onEnd })
    this.#runs.set(runId, observer)
    return observer
  }

  #newList(key: string): RunsObserver {
    const onEnd = () => void this.#lists.delete(key)
    const observer = new RunsObserver({ client: this.#client, clock: this.#clock, filter: JSON.parse(key) as WatchFilter, onEnd })
    this.#lists.set(key, observer)
    return observer
  }
}

const observersByClient = new WeakMap<DurablyClient, Observers>()

export function observersOf(client: DurablyClient): Observers {
  const known = observersByClient.get(client)
  if (known) return known
  const observers = new Observers(client, systemClock)
  observersByClient.set(client, observers)
  return observers
}

/** Equal filters have the same key, in whatever order their fields stand. Times in it become texts, which a filter takes as well. */
export function filterKey(filter: WatchFilter): string {
  return JSON.stringify(Object.fromEntries(Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1))))
}
