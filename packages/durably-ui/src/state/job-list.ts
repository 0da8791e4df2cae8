// JobList — the jobs that can be triggered: those that the page was given, else those that the client lists. They come and go with the workers
// of a server, so they are read again every few seconds.
import type { DurablyClient } from '@coji/durably/client'
import type { DashboardJob } from '../dashboard-options.ts'
import { repeatedly } from './clock.ts'
import { errorText } from './error-text.ts'

const READ_AGAIN_MS = 5000

export class JobList {
  jobs: readonly DashboardJob[] = []
  error: string | null = null

  readonly #client: DurablyClient
  readonly #given: readonly DashboardJob[] | null
  readonly #changed: () => void
  readonly #ended = new AbortController()

  constructor(client: DurablyClient, given: readonly DashboardJob[] | null, changed: () => void) {
    this.#client = client
    this.#given = given
    this.#changed = changed
  }

  async start(): Promise<void> {
    await this.read()
    if (!this.#given)
      await repeatedly(
        () => READ_AGAIN_MS,
        this.#ended.signal,
        () => this.read(),
      )
  }

  stop(): void {
    this.#ended.abort()
  }

  async read(): Promise<void> {
    try {
      this.jobs = this.#given ?? (await this.#client.getJobs()).map(({ name, input }) => ({ name, inputSchema: input }))
      this.error = null
    } catch (error) {
      this.error = errorText(error)
    }
    if (!this.#ended.signal.aborted) this.#changed()
  }
}
