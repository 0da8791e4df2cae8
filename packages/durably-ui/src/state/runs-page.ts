// RunsPage — one page of the list of runs. The newest page is live; an older one is read again every few seconds.
//   P1. Never more than a page is asked for, however many runs match: one run more than is shown says whether there are others.
import type { ConnectionState, DurablyClient, Run, RunConditions } from '@coji/durably/client'
import { repeatedly } from './clock.ts'
import { errorText } from './error-text.ts'

const PAGE_SIZE = 50
const READ_AGAIN_MS = 5000

export interface Place {
  readonly after: string | null
  readonly before: string | null
}

export class RunsPage {
  runs: readonly Run[] | null = null
  hasOlder = false
  hasNewer = false
  connection: ConnectionState | 'read' = 'connecting'
  error: string | null = null

  readonly #client: DurablyClient
  readonly #changed: () => void
  #ended = new AbortController()

  constructor(client: DurablyClient, changed: () => void) {
    this.#client = client
    this.#changed = changed
  }

  show(conditions: RunConditions, place: Place): void {
    this.stop()
    this.#ended = new AbortController()
    this.error = null
    const { signal } = this.#ended
    if (place.after === null && place.before === null) void this.#watch(conditions, signal)
    else void this.#read(conditions, place, signal)
  }

  stop(): void {
    this.#ended.abort()
  }

  async #watch(conditions: RunConditions, signal: AbortSignal): Promise<void> {
    const onConnection = (state: ConnectionState) => {
      if (signal.aborted) return
      this.connection = state
      this.#changed()
    }
    try {
      for await (const runs of this.#client.watchRuns({ ...conditions, values: false, limit: PAGE_SIZE + 1 }, { signal, onConnection })) {
        if (signal.aborted) return
        this.#set(runs.slice(0, PAGE_SIZE), { hasOlder: runs.length > PAGE_SIZE, hasNewer: false })
      }
    } catch (error) {
      this.#failed(error, signal)
    }
  }

  async #read(conditions: RunConditions, place: Place, signal: AbortSignal): Promise<void> {
    const read = async () => {
      try {
        const page = await this.#page(conditions, place)
        if (!signal.aborted) this.#set(page.runs, page)
      } catch (error) {
        this.#failed(error, signal)
      }
    }
    this.connection = 'read'
    await read()
    await repeatedly(() => READ_AGAIN_MS, signal, read)
  }

  async #page(conditions: RunConditions, { after, before }: Place) {
    const limit = PAGE_SIZE + 1
    if (before !== null) {
      const runs = await this.#client.getRuns({ ...conditions, values: false, limit, cursor: before, direction: 'previous' })
      return { runs: runs.slice(-PAGE_SIZE), hasOlder: true, hasNewer: runs.length > PAGE_SIZE }
    }
    const runs = await this.#client.getRuns({ ...conditions, values: false, limit, ...(after !== null && { cursor: after }) })
    return { runs: runs.slice(0, PAGE_SIZE), hasOlder: runs.length > PAGE_SIZE, hasNewer: true }
  }

  #set(runs: readonly Run[], { hasOlder, hasNewer }: { hasOlder: boolean; hasNewer: boolean }): void {
    Object.assign(this, { runs, hasOlder, hasNewer, error: null })
    this.#changed()
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    this.error = errorText(error)
    this.#changed()
  }
}
