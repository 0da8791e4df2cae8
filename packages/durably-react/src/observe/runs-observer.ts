// RunsObserver — the runs that match a filter, newest first, for all components that observe them.
//   L1. The newest page is live. Older pages are read on demand, again when the newest page has moved on, and every few seconds, so that
//       their rows stay current.
//   L2. A run that moves out of the newest page stays in the list when older ones are shown.
import type { TimerHandle } from '@coji/durably'
import type { ConnectionState, DurablyClient, Run, WatchFilter } from '@coji/durably/client'
import type { Clock } from './clock.ts'
import { Pause, retryMs } from './pause.ts'
import { asError, type Connection } from './run-state.ts'
import { isShallowEqual } from './shallow-equal.ts'
import { Subscribers } from './subscribers.ts'

const PAGE_DEFAULT = 50
const OLDER_MS = 10_000

export interface RunsState {
  /** The runs, newest first. */
  readonly runs: readonly Run[]
  /** True until the first page has arrived. */
  readonly isLoading: boolean
  /** Whether there are older runs than those in the list. */
  readonly hasMore: boolean
  /** True while older runs are being read. */
  readonly isLoadingMore: boolean
  /** The state of the connection, for people to see. */
  readonly connection: Connection
  /** Why the runs cannot be read; null if all is well. */
  readonly error: Error | null
}

export const UNKNOWN_RUNS: RunsState = { runs: [], isLoading: true, hasMore: false, isLoadingMore: false, connection: 'idle', error: null }

export interface RunsObserverDeps {
  client: Pick<DurablyClient, 'getRuns' | 'watchRuns'>
  filter: WatchFilter
  clock: Clock
  onEnd(): void
}

export class RunsObserver {
  readonly #deps: RunsObserverDeps
  readonly #subscribers: Subscribers
  readonly #pause: Pause
  readonly #limit: number
  readonly #ended = new AbortController()
  #newest: readonly Run[] = []
  #older: readonly Run[] = []
  #olderPages = 0
  #reading: Promise<void> | null = null
  #readAgain = false
  #readingSoon: TimerHandle
  #watchError: Error | null = null
  #olderError: Error | null = null

  state: RunsState = UNKNOWN_RUNS

  constructor(deps: RunsObserverDeps) {
    const { clock, filter, onEnd } = deps
    this.#deps = deps
    this.#pause = new Pause(clock)
    this.#limit = filter.limit ?? PAGE_DEFAULT
    const end = () => {
      this.#ended.abort()
      clock.clear(this.#readingSoon)
      onEnd()
    }
    this.#subscribers = new Subscribers({ clock, start: () => void this.#follow(this.#ended.signal), end })
  }

  join(listener: () => void): () => void {
    return this.#subscribers.join(listener)
  }

  async loadMore(): Promise<void> {
    if (!this.state.hasMore || this.state.isLoadingMore) return
    this.#olderPages++
    this.#change({ isLoadingMore: true })
    await this.#readOlder()
    this.#change({ isLoadingMore: false })
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { client, filter } = this.#deps
    const onConnection = (connection: ConnectionState) => {
      if (signal.aborted) return
      if (connection === 'live') this.#watchError = null
      this.#change({ connection })
    }
    this.#change({ connection: 'connecting' })
    for (let failures = 0; !signal.aborted; ) {
      try {
        for await (const page of client.watchRuns({ ...filter, limit: this.#limit }, { signal, onConnection })) {
          if (signal.aborted) return
          failures = 0
          this.#take(page)
        }
      } catch (error) {
        if (signal.aborted) return
        this.#watchError = asError(error)
        this.#change({ connection: 'reconnecting' })
      }
      await this.#pause.wait(retryMs(failures++), signal)
    }
  }

  #take(page: readonly Run[]): void {
    const shown = this.state.runs
    const [lastBefore, last] = [this.#newest.at(-1), page.at(-1)]
    this.#newest = page
    this.#watchError = null
    this.#change({ isLoading: false, connection: 'live' })
    if (this.#olderPages > 0) {
      const isFull = last !== undefined && page.length >= this.#limit
      this.#older = isFull ? shown.filter((run) => isBefore(run, last, this.#deps.filter)) : []
      if (last?.id !== lastBefore?.id) void this.#readOlder()
    }
    this.#show(this.#olderPages === 0 ? page.length >= this.#limit : this.state.hasMore)
  }

  /** One read at a time. It resolves when all was read that is wanted by now, also if a read was under way. */
  #readOlder(): Promise<void> {
    this.#readAgain = true
    this.#reading ??= this.#readWanted()
    return this.#reading
  }

  async #readWanted(): Promise<void> {
    while (this.#readAgain && !this.#ended.signal.aborted) {
      this.#readAgain = false
      try {
        await this.#readPages()
        this.#olderError = null
      } catch (error) {
        this.#olderError = asError(error)
      }
      this.#change({})
    }
    // In the same turn as the last look at `#readAgain`, so that no call falls between them.
    this.#reading = null
    this.#readOlderSoon()
  }

  async #readPages(): Promise<void> {
    const { client, filter } = this.#deps
    const newest = this.#newest
    const older: Run[] = []
    let isFull = newest.length >= this.#limit
    for (let page = 0; page < this.#olderPages && isFull; page++) {
      const last = older.at(-1) ?? newest.at(-1)
      const runs = await client.getRuns({ ...filter, limit: this.#limit, ...(last && { cursor: cursorOf(last, filter) }) })
      older.push(...runs)
      isFull = runs.length >= this.#limit
    }
    // The newest page has moved on meanwhile, so the older ones are read again.
    if (newest.at(-1)?.id !== this.#newest.at(-1)?.id) return
    this.#older = older
    this.#show(isFull)
  }

  #readOlderSoon(): void {
    const { clock } = this.#deps
    clock.clear(this.#readingSoon)
    if (!this.#ended.signal.aborted) this.#readingSoon = clock.timer(OLDER_MS, () => void this.#readOlder())
  }

  #show(hasMore: boolean): void {
    this.#change({ runs: [...this.#newest, ...this.#older], hasMore })
  }

  #change(change: Partial<RunsState>): void {
    const state = { ...this.state, ...change, error: this.#watchError ?? this.#olderError }
    if (isShallowEqual(state, this.state)) return
    this.state = state
    this.#subscribers.notify()
  }
}

/** The order of `getRuns`: by id, and if the filter has a range of ends, by the end first. A cursor is the place of a run in it. */
function cursorOf({ id, finishedAt }: Run, { finishedAfter, finishedBefore }: WatchFilter): string {
  return finishedAfter === undefined && finishedBefore === undefined ? id : `${finishedAt}/${id}`
}

function isBefore(run: Run, other: Run, filter: WatchFilter): boolean {
  return cursorOf(run, filter) < cursorOf(other, filter)
}
