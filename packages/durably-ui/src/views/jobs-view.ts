// All jobs, with figures from the newest runs.
import type { Run } from '@coji/durably/client'
import { html, type TemplateResult } from 'lit'
import { figuresByJob, type JobFigures } from '../figures/job-figures.ts'
import { newestRuns, SAMPLE_SIZE } from '../figures/sample.ts'
import { jobFacts } from '../parts/job-facts.ts'
import { link } from '../parts/link.ts'
import { moment } from '../parts/moment.ts'
import { emptyNotice, errorNotice, loadingNotice } from '../parts/notice.ts'
import type { RepeatedRead } from '../state/repeated-read.ts'
import { numberInWords } from '../words/plural.ts'
import { define, FollowingView } from './view.ts'

class JobsView extends FollowingView {
  #newest: RepeatedRead<readonly Run[]> | null = null

  protected override key(): string {
    return ''
  }

  protected override begin(): void {
    this.#newest = newestRuns(this.app.client, null, () => this.requestUpdate())
    void this.#newest.start()
  }

  protected override end(): void {
    this.#newest?.stop()
  }

  protected override render(): TemplateResult {
    const { answer: runs, error } = this.#newest ?? { answer: null, error: null }
    return html`<header class="page-head"><h1>Jobs</h1></header>
      ${errorNotice(error ?? this.app.jobs.error)}
      ${runs ? this.#list(figuresByJob(runs, this.now), runs.length) : error ? '' : loadingNotice()}`
  }

  #list(figures: readonly JobFigures[], sampled: number): TemplateResult {
    const seen = new Set(figures.map(({ jobName }) => jobName))
    const others = this.app.jobs.jobs.filter(({ name }) => !seen.has(name))
    if (figures.length + others.length === 0) return emptyNotice('No jobs', 'The server lists none, and there are no runs.')
    const isAll = sampled < SAMPLE_SIZE
    return html`<p class="hint">Figures are of ${isAll ? `all ${numberInWords(sampled)} runs` : `the newest ${numberInWords(sampled)} runs of all jobs`}.</p>
      <ul class="jobs">
        ${figures.map(
          (job) => html`<li class="card">
            <header><h2>${link(this.app, { page: 'job', name: job.jobName }, job.jobName)}</h2><span class="hint">last ${moment(job.lastAt, this.now)}</span></header>
            ${jobFacts(job)}
          </li>`,
        )}
        ${others.map(({ name }) => html`<li class="card"><header><h2>${link(this.app, { page: 'job', name }, name)}</h2></header><p class="hint">No recent run.</p></li>`)}
      </ul>`
  }
}

define('durably-jobs-view', JobsView)
