// One job: its figures, how long its runs take, the schema of its input.
import type { Run } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import { triggerDialog } from '../dialogs/trigger-dialog.ts'
import { figuresByJob } from '../figures/job-figures.ts'
import { newestRuns } from '../figures/sample.ts'
import { histogramView } from '../parts/histogram-view.ts'
import { icon } from '../parts/icon.ts'
import { jobFacts } from '../parts/job-facts.ts'
import { link } from '../parts/link.ts'
import { errorNotice, loadingNotice } from '../parts/notice.ts'
import { runRow } from '../parts/run-row.ts'
import { valueView } from '../parts/value-view.ts'
import { ALL_RUNS } from '../route.ts'
import type { RepeatedRead } from '../state/repeated-read.ts'
import { counted } from '../words/plural.ts'
import { define, FollowingView } from './view.ts'

const RUNS_SHOWN = 10

class JobView extends FollowingView {
  static override properties = { jobName: { attribute: false } }
  declare jobName: string
  #newest: RepeatedRead<readonly Run[]> | null = null

  protected override key(): string {
    return this.jobName
  }

  protected override begin(): void {
    this.#newest = newestRuns(this.app.client, this.jobName, () => this.requestUpdate())
    void this.#newest.start()
  }

  protected override end(): void {
    this.#newest?.stop()
  }

  protected override render(): TemplateResult {
    const job = this.app.jobs.jobs.find(({ name }) => name === this.jobName)
    const { answer: runs, error } = this.#newest ?? { answer: null, error: null }
    return html`<header class="page-head">
        <div class="title"><p class="crumb">${link(this.app, { page: 'jobs' }, 'Jobs')}</p><h1>${this.jobName}</h1></div>
        <span class="grow"></span>
        ${job ? html`<button class="primary" @click=${() => this.app.open(triggerDialog(this.app, this.jobName))}>${icon('plus')}Trigger</button>` : nothing}
      </header>
      ${errorNotice(error)} ${runs ? this.#figures(runs) : error ? nothing : loadingNotice()}
      ${job?.inputSchema ? html`<section class="card">${valueView('Input schema', job.inputSchema, 'input-schema.json')}</section>` : nothing}`
  }

  #figures(runs: readonly Run[]): TemplateResult {
    const [figures] = figuresByJob(runs, this.now)
    if (!figures) return html`<p class="hint">It has no runs.</p>`
    const query = { ...ALL_RUNS, jobName: this.jobName }
    return html`<p class="hint">Figures are of its newest ${counted(runs.length, 'run')}.</p>
      <section class="card" aria-label="Figures">${jobFacts(figures)}</section>
      <section class="card" aria-label="Durations"><header><h2>Durations of completed runs</h2></header>${histogramView(figures.durationsMs)}</section>
      <section aria-label="Newest runs">
        <ol class="runs">${runs.slice(0, RUNS_SHOWN).map((run) => html`<li>${runRow(this.app, run, this.now)}</li>`)}</ol>
        <p class="more">${link(this.app, { page: 'runs', query }, 'All runs of this job')}</p>
      </section>`
  }
}

define('durably-job-view', JobView)
