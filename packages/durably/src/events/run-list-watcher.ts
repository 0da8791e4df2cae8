// RunListWatcher — reads the newest runs that match a filter, again whenever they may have changed.
//   P1. Waiters for the same runs share one reader; while nobody waits, nothing is read.
//   P2. A change makes it read, at most once per READ_EVERY_MS; one read per polling interval finds changes that were not delivered.
//   P3. It is a state, not a log: a slow waiter gets the newest page, not those between.
import { backoffMs } from '../model/backoff.ts'
import type { Codec } from '../model/codec.ts'
import type { Env, TimerHandle } from '../model/env.ts'
import { isPassing } from '../model/errors.ts'
import { phase } from '../model/phase.ts'
import { printOf, type Run, toRun } from '../model/run.ts'
import type { RunQuery, RunStore } from '../store/runs.ts'

const READ_EVERY_MS = 100

/** One page; two with the same `print` hold the same runs in the same state. */
export interface RunPage {
  readonly runs: readonly Run[]
  readonly print: string
}

export interface RunListWatcherDeps {
  runs: RunStore
  env: Env
  codec: Codec
  pollingMs: number
  /** Called when somebody begins to wait: changes of other processes are wanted from now on. */
  onWatch: () => void
  /** Throws inside `ctx.transaction`, where the caller must not wait for a read. */
  refuseInTransaction: () => void
}

export class RunListWatcher {
  readonly #deps: RunListWatcherDeps
  readonly #readers = new Map<string, PageReader>()

  constructor(deps: RunListWatcherDeps) {
    this.#deps = deps
  }

  get env(): Env {
    return this.#deps.env
  }

  /** Any run may have changed. */
  touch(): void {
    for (const reader of this.#readers.values()) reader.touch()
  }

  /** The page, as soon as it differs from what was `seen`; `done` says that nobody waits for it any more. */
  next(query: RunQuery, seen: string | null): { page: Promise<RunPage>; done: () => void } {
    this.#deps.refuseInTransaction()
    const key = JSON.stringify(query)
    const known = this.#readers.get(key)
    const reader = known ?? new PageReader(this.#deps, query, () => void this.#readers.delete(key))
    if (!known) {
      this.#readers.set(key, reader)
      this.#deps.onWatch()
      reader.read()
    }
    return reader.next(seen)
  }
}

interface Waiter {
  readonly seen: string | null
  readonly resolve: (page: RunPage) => void
  readonly reject: (error: unknown) => void
}

class PageReader {
  readonly #deps: RunListWatcherDeps
  readonly #query: RunQuery
  readonly #drop: () => void
  readonly #waiters = new Set<Waiter>()
  #page: RunPage | null = null
  /** By id, so that a run that did not change stays the same object. */
  #known = new Map<string, { print: string; run: Run }>()
  #isReading = false
  #isTouched = false
  #readAt = 0
  #failures = 0
  #timer: TimerHandle | null = null

  constructor(deps: RunListWatcherDeps, query: RunQuery, drop: () => void) {
    this.#deps = deps
    this.#query = query
    this.#drop = drop
  }

  next(seen: string | null): { page: Promise<RunPage>; done: () => void } {
    if (this.#page && this.#page.print !== seen) return { page: Promise.resolve(this.#page), done: () => {} }
    let done = () => {}
    const page = new Promise<RunPage>((resolve, reject) => {
      const waiter = { seen, resolve, reject }
      this.#waiters.add(waiter)
      done = () => void this.#waiters.delete(waiter)
    })
    return { page, done }
  }

  touch(): void {
    if (this.#isTouched) return
    this.#isTouched = true
    if (!this.#isReading) this.#schedule(this.#readAt + READ_EVERY_MS - this.#deps.env.mono())
  }

  read(): void {
    const { env } = this.#deps
    this.#isReading = true
    this.#isTouched = false
    this.#readAt = env.mono()
    this.#load().then(
      (page) => this.#loaded(page),
      (error: unknown) => this.#failed(error),
    )
  }

  async #load(): Promise<RunPage> {
    const { runs, env, codec } = this.#deps
    const rows = await runs.list(this.#query)
    const known = new Map<string, { print: string; run: Run }>()
    for (const row of rows) {
      const print = printOf(row, phase(row, env.wall()))
      const before = this.#known.get(row.id)
      known.set(row.id, before?.print === print ? before : { print, run: toRun(row, codec, env.wall()) })
    }
    this.#known = known
    const entries = [...known.values()]
    return { runs: entries.map(({ run }) => run), print: entries.map(({ print }) => print).join() }
  }

  #loaded(page: RunPage): void {
    this.#isReading = false
    this.#failures = 0
    this.#page = page
    for (const waiter of this.#waiters) {
      if (waiter.seen === page.print) continue
      this.#waiters.delete(waiter)
      waiter.resolve(page)
    }
    this.#schedule(this.#isTouched ? READ_EVERY_MS - (this.#deps.env.mono() - this.#readAt) : this.#deps.pollingMs)
  }

  /** While the store is unavailable the watch goes on and reads again. */
  #failed(error: unknown): void {
    this.#isReading = false
    if (isPassing(error)) return this.#schedule(Math.max(READ_EVERY_MS, backoffMs(this.#deps.env, ++this.#failures)))
    this.#drop()
    for (const { reject } of this.#waiters) reject(error)
    this.#waiters.clear()
  }

  #schedule(ms: number): void {
    const { env } = this.#deps
    env.clear(this.#timer)
    const due = () => {
      this.#timer = null
      if (this.#waiters.size > 0) this.read()
      else this.#drop()
    }
    // Deferred, so that what is written in the same turn is read together.
    if (ms <= 0) env.defer(due)
    else this.#timer = env.timer(ms, due)
  }
}
