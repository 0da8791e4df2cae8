// CountSamples — how many runs are in each phase, counted again and again while the page is open, and kept for a while. A database with many
// runs takes longer to count them, so the pause grows with the time that a count took: the shorter of the last two, because one alone may have
// been slow for another reason, such as a page that loads.
import type { DurablyClient, Phase } from '@coji/durably/client'
import { now, pause, repeatedly } from './clock.ts'
import { errorText } from './error-text.ts'

export interface CountSample {
  readonly at: number
  readonly counts: Readonly<Record<Phase, number>>
}

/** Half an hour at the shortest pause. */
const SAMPLES_MAX = 900
const PAUSE_MS = 2000
const PAUSE_MS_MAX = 300_000
const PAUSE_PER_COUNT = 30

export class CountSamples {
  samples: readonly CountSample[] = []
  error: string | null = null
  /** The server answers, and its database does not: what the page shows may be old. */
  isStoreAway = false

  readonly #client: DurablyClient
  readonly #changed: () => void
  readonly #ended = new AbortController()
  #tookMs: readonly [before: number, last: number] = [0, 0]

  constructor(client: DurablyClient, changed: () => void) {
    this.#client = client
    this.#changed = changed
  }

  get latest(): CountSample['counts'] | null {
    return this.samples.at(-1)?.counts ?? null
  }

  async start(): Promise<void> {
    const { signal } = this.#ended
    // What is on the page first is read first.
    await pause(0, signal)
    if (!signal.aborted) await this.#count()
    await repeatedly(
      () => Math.min(PAUSE_MS_MAX, Math.max(PAUSE_MS, Math.min(...this.#tookMs) * PAUSE_PER_COUNT)),
      signal,
      () => this.#count(),
    )
  }

  stop(): void {
    this.#ended.abort()
  }

  async #count(): Promise<void> {
    const begin = now()
    try {
      const counts = await this.#client.countsByPhase()
      this.samples = [...this.samples, { at: now(), counts }].slice(-SAMPLES_MAX)
      this.error = null
      this.isStoreAway = false
      this.#tookMs = [this.#tookMs[1], now() - begin]
    } catch (error) {
      this.error = errorText(error)
      this.isStoreAway = (error as { code?: unknown } | null)?.code === 'store_unavailable'
      this.#tookMs = [0, 0]
    }
    if (!this.#ended.signal.aborted) this.#changed()
  }
}
