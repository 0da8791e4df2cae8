// Which view shows which route.
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import type { Route } from '../route.ts'
import '../views/activity-view.ts'
import '../views/audit-view.ts'
import '../views/job-view.ts'
import '../views/jobs-view.ts'
import '../views/run-view.ts'
import '../views/runs-view.ts'
import '../views/schedules-view.ts'
import '../views/workers-view.ts'
import { ALL_RUNS } from '../route.ts'

export function pageOf(app: App, route: Route, now: number): TemplateResult {
  const { cluster } = app
  switch (route.page) {
    case 'run':
      return html`<durably-run-view .app=${app} .now=${now} .runId=${route.id}></durably-run-view>`
    case 'jobs':
      return html`<durably-jobs-view .app=${app} .now=${now}></durably-jobs-view>`
    case 'job':
      return html`<durably-job-view .app=${app} .now=${now} .jobName=${route.name}></durably-job-view>`
    case 'activity':
      return html`<durably-activity-view .app=${app} .now=${now}></durably-activity-view>`
    case 'schedules':
      if (cluster?.schedules)
        return html`<durably-schedules-view .app=${app} .now=${now} .schedules=${cluster.schedules}></durably-schedules-view>`
      break
    case 'workers':
      if (cluster?.workers || cluster?.leader)
        return html`<durably-workers-view .app=${app} .now=${now} .cluster=${cluster}></durably-workers-view>`
      break
    case 'audit':
      if (cluster?.audit) return html`<durably-audit-view .app=${app} .now=${now} .cluster=${cluster}></durably-audit-view>`
  }
  const query = route.page === 'runs' ? route.query : ALL_RUNS
  return html`<durably-runs-view .app=${app} .now=${now} .query=${query}></durably-runs-view>`
}
