// @coji/durably-ui — defines the element <durably-dashboard>.
import './dashboard.ts'
import type { DashboardOptions, DurablyDashboard } from './dashboard-options.ts'

export type {
  AuditReader,
  ClusterClient,
  ListedAuditEntry,
  ListedLeader,
  ListedSchedule,
  ListedWorker,
  ScheduleReader,
  SettingsReader,
  WorkerReader,
} from './cluster-client.ts'
export type { DashboardControl, DashboardJob, DashboardOptions, DurablyDashboard } from './dashboard-options.ts'

/**
 * Makes a dashboard, to be put into a page.
 *
 * @example document.body.append(createDashboard({ client: httpClient({ url: '/api/durably' }), routing: 'hash' }))
 */
export function createDashboard(options: DashboardOptions): DurablyDashboard {
  return Object.assign(document.createElement('durably-dashboard'), options)
}

declare global {
  interface HTMLElementTagNameMap {
    'durably-dashboard': DurablyDashboard
  }
}
