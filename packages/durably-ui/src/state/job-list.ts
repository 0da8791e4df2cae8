// JobList — the jobs that can be triggered: those that the page was given, else those that the client lists. They come and go with the workers
// of a server, so they are read again every few seconds.
import type { DurablyClient } from '@coji/durably/client'
import type { DashboardJob } from '../dashboard-options.ts'
import { RepeatedRead } from './repeated-read.ts'

const READ_AGAIN_MS = 5000

export class JobList {
  readonly #given: readonly DashboardJob[] | null
  readonly #listed: RepeatedRead<readonly DashboardJob[]>

  constructor(client: DurablyClient, given: readonly DashboardJob[] | null, changed: () => void) {
    this.#given = given
    const ask = async () => (await client.getJobs()).map(({ name, input }) => ({ name, inputSchema: input }))
    this.#listed = new RepeatedRead(ask, READ_AGAIN_MS, changed)
  }

  get jobs(): readonly DashboardJob[] {
    return this.#given ?? this.#listed.answer ?? []
  }

  get error(): string | null {
    return this.#listed.error
  }

  async start(): Promise<void> {
    if (!this.#given) await this.#listed.start()
  }

  async read(): Promise<void> {
    if (!this.#given) await this.#listed.read()
  }

  stop(): void {
    this.#listed.stop()
  }
}
