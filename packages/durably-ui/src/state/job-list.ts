// JobList — the jobs that can be triggered: those that the page was given, else those that the client lists.
import type { DurablyClient } from '@coji/durably/client'
import type { DashboardJob } from '../dashboard-options.ts'
import { errorText } from './error-text.ts'

export class JobList {
  jobs: readonly DashboardJob[] = []
  error: string | null = null

  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  async read(client: DurablyClient, given: readonly DashboardJob[] | null): Promise<void> {
    try {
      this.jobs = given ?? (await client.getJobs()).map(({ name, input }) => ({ name, inputSchema: input }))
      this.error = null
    } catch (error) {
      this.error = errorText(error)
    }
    this.#changed()
  }
}
