// What a page gives to a dashboard.
import type { DurablyClient } from '@coji/durably/client'
import type { ClusterClient } from './cluster-client.ts'

/** What a dashboard shows, and how. They are properties of the element, too. */
export interface DashboardOptions {
  /** Reaches the runs: an `httpClient`, or a `localClient` of an instance in the same tab. */
  client: DurablyClient
  /** The jobs that can be triggered, with JSON Schemas of their inputs. Default: those that `client.getJobs()` lists. */
  jobs?: readonly DashboardJob[] | null
  /** Reads schedules, workers and the audit. Without it their pages are left out. */
  cluster?: ClusterClient | null
  /** Buttons at the top, for what only this page can do. */
  controls?: readonly DashboardControl[]
  /** How far the clock of the server is ahead of that of the reader, in milliseconds: “2 s ago” is by the server’s clock. Default 0. */
  clockOffset?: number
  /** `hash`: the address of the page names the page of the dashboard, so it can be linked to. `memory`: the address is left alone. Default `memory`. */
  routing?: 'hash' | 'memory'
  /** The colours. Default `auto`: those that the system prefers, or those that the reader chose last. */
  theme?: 'auto' | 'light' | 'dark'
}

/** A job that can be triggered from the dashboard. */
export interface DashboardJob {
  /** The name of the job. */
  readonly name: string
  /** The JSON Schema of its input. Without one, the input is entered as JSON. */
  readonly inputSchema?: Readonly<Record<string, unknown>> | null
}

/** A button at the top of the dashboard. */
export interface DashboardControl {
  /** What it is called. */
  readonly label: string
  /** What it does, in a sentence. */
  readonly title: string
  /** Whether it does harm on purpose, and looks like it. */
  readonly isDangerous?: boolean
  /** Called when it is pressed. What it resolves to is shown; if it rejects, its message is. */
  press(): Promise<string>
}

/** The element `<durably-dashboard>`. */
export interface DurablyDashboard extends HTMLElement, Required<Omit<DashboardOptions, 'client'>> {
  /** Reaches the runs; null until the page has set it. */
  client: DurablyClient | null
}
