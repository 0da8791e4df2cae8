// App — what every view may ask of the dashboard around it.
import type { DurablyClient } from '@coji/durably/client'
import type { TemplateResult } from 'lit'
import type { ClusterClient } from './cluster-client.ts'
import type { Route } from './route.ts'
import type { CountSamples } from './state/count-samples.ts'
import type { JobList } from './state/job-list.ts'

export interface App {
  readonly client: DurablyClient
  readonly cluster: ClusterClient | null
  readonly jobs: JobList
  readonly counts: CountSamples
  /** The address of a page of the dashboard. */
  href(route: Route): string
  /** The list of runs as it was last shown, with its filters. */
  list(): Route
  go(route: Route, options?: { replace?: boolean }): void
  /** Shows a dialog until it is closed. */
  open(dialog: TemplateResult): void
  close(): void
  /** Says something for a few seconds. */
  say(text: string, tone?: 'good' | 'bad'): void
}
