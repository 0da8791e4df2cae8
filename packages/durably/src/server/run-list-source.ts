// RunListSource — a list of runs and its changes, without the runs that the caller may not read.
//   R1. It sends the newest state: a slow reader gets the newest list, and misses states in between.
//   R2. Each run is authorized when it has changed, and again when the stream is authorized again.
//   R3. Runs that may not be read are replaced by others of the newest LIMIT_MAX that match, not by older ones.
import { unlessAborted } from '../model/abort.ts'
import { printOf, type Run } from '../model/run.ts'
import { Waiter } from '../model/waiter.ts'
import { type FrameSource, frame } from './event-stream.ts'
import type { PageFilter } from './filter-query.ts'
import { LIMIT_MAX } from './query.ts'
import type { Shown } from './shown-run.ts'

export interface RunListSourceDeps {
  filter: PageFilter
  watch: (filter: PageFilter, signal: AbortSignal) => ReadableStream<readonly Run[]>
  mayRead: (run: Run) => Promise<boolean>
  shown: Pick<Shown, 'run'>
}

export class RunListSource implements FrameSource {
  readonly #deps: RunListSourceDeps
  #watched: Watched
  #answers = new WeakMap<Run, boolean>()
  /** The runs that the reader has, by id; `null` before the first list. */
  #sent: Map<string, Run> | null = null

  constructor(deps: RunListSourceDeps) {
    this.#deps = deps
    this.#watched = new Watched(deps, deps.filter.limit)
  }

  async next(signal: AbortSignal): Promise<string | null> {
    for (;;) {
      const page = await this.#watched.next(signal)
      if (!page || signal.aborted) return null
      const { limit } = this.#deps.filter
      const readable = await this.#readable(page)
      if (readable.length < page.length && limit < LIMIT_MAX && this.#watched.limit === limit && page.length === limit) {
        this.#watched.close()
        this.#watched = new Watched(this.#deps, LIMIT_MAX)
      } else {
        const text = this.#write(readable.slice(0, limit))
        if (text !== null) return text
      }
    }
  }

  authorizeAgain(): void {
    this.#answers = new WeakMap()
    this.#watched.again()
  }

  close(): void {
    this.#watched.close()
  }

  async #readable(page: readonly Run[]): Promise<Run[]> {
    const answers = this.#answers
    const readable: Run[] = []
    for (const run of page) {
      const answer = answers.get(run) ?? (await this.#deps.mayRead(run))
      answers.set(run, answer)
      if (answer) readable.push(run)
    }
    return readable
  }

  #write(runs: readonly Run[]): string | null {
    const before = this.#sent
    const shown = (runs: readonly Run[]) => runs.map((run) => this.#deps.shown.run(run))
    this.#sent = new Map(runs.map((run) => [run.id, run]))
    if (!before) return frame({ runs: shown(runs) })
    const order = runs.map(({ id }) => id)
    const changed = runs.filter((run) => isChanged(run, before.get(run.id)))
    const isSameOrder = order.length === before.size && [...before.keys()].every((id, i) => id === order[i])
    return changed.length === 0 && isSameOrder ? null : frame({ order, changed: shown(changed) })
  }
}

function isChanged(run: Run, before: Run | undefined): boolean {
  return !before || printOf(run) !== printOf(before)
}

/** The list that was read last, and whether it has to be processed. */
class Watched {
  readonly limit: number
  readonly #closed = new AbortController()
  readonly #reader: ReadableStreamDefaultReader<readonly Run[]>
  #page: readonly Run[] | null = null
  #error: unknown
  #isReading = false
  #isDue = false
  readonly #waiter = new Waiter()

  constructor({ watch, filter }: RunListSourceDeps, limit: number) {
    this.limit = limit
    this.#reader = watch({ ...filter, limit }, this.#closed.signal).getReader()
  }

  /** The newest list, once it has changed or has to be authorized again. */
  async next(signal: AbortSignal): Promise<readonly Run[] | null> {
    if (!this.#isReading) this.#read()
    if (!this.#isDue) await unlessAborted(signal, this.#waiter.wait())
    if (this.#error !== undefined) throw this.#error
    this.#isDue = false
    return this.#page
  }

  again(): void {
    if (this.#page) this.#due()
  }

  close(): void {
    this.#closed.abort()
  }

  #read(): void {
    this.#isReading = true
    this.#reader.read().then(
      ({ value }) => {
        this.#isReading = false
        this.#page = value ?? null
        this.#due()
      },
      (error: unknown) => {
        if (this.#closed.signal.aborted) return
        this.#error = error
        this.#due()
      },
    )
  }

  #due(): void {
    this.#isDue = true
    this.#waiter.wake()
  }
}
