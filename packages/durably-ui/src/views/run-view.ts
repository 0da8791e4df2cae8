// The page of one run: its state in words, its timeline, what went in and came out, what it wrote, its children.
import type { Run } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import { explanationPart } from '../parts/explanation-part.ts'
import { icon } from '../parts/icon.ts'
import { link } from '../parts/link.ts'
import { logLines } from '../parts/log-lines.ts'
import { errorNotice, loadingNotice } from '../parts/notice.ts'
import { phaseBadge } from '../parts/phase-badge.ts'
import { progressBar } from '../parts/progress-bar.ts'
import { runActions } from '../parts/run-actions.ts'
import { runFacts } from '../parts/run-facts.ts'
import { runTree } from '../parts/run-tree.ts'
import { runValues } from '../parts/run-values.ts'
import { streamOutput } from '../parts/stream-output.ts'
import { timelineView } from '../parts/timeline-view.ts'
import { valueView } from '../parts/value-view.ts'
import { HOME } from '../route.ts'
import { ChildRuns } from '../state/child-runs.ts'
import { hasEnded, WatchedRun } from '../state/watched-run.ts'
import { timelineOf } from '../timeline/timeline.ts'
import { counted } from '../words/plural.ts'
import { define, FollowingView } from './view.ts'

class RunView extends FollowingView {
  static override properties = { runId: { attribute: false } }
  declare runId: string
  #watched: WatchedRun | null = null
  #children: ChildRuns | null = null
  #chosenStep: string | null = null

  protected override key(): string {
    return this.runId
  }

  protected override begin(): void {
    this.#chosenStep = null
    this.#watched = new WatchedRun(this.app.client, this.runId, () => this.requestUpdate())
    this.#children = new ChildRuns(this.app.client, this.runId, () => this.requestUpdate())
    void this.#watched.start()
    void this.#children.start()
  }

  protected override end(): void {
    this.#watched?.stop()
    this.#children?.stop()
  }

  protected override render(): TemplateResult {
    const watched = this.#watched
    const run = watched?.run
    if (!watched || run === undefined) return watched?.error ? (errorNotice(watched.error) as TemplateResult) : loadingNotice()
    if (run === null) return this.#missing()
    return html`
      ${this.#head(run, watched)} ${errorNotice(watched.error)}
      ${explanationPart(this.app, run, watched.explanation, this.now)}
      ${run.progress && !hasEnded(run) ? progressBar(run.progress) : nothing}
      <div class="columns">
        <div class="wide">
          ${this.#timeline(run, watched)} ${streamOutput(watched.view.streams, run.id)} ${runValues(run)}
          ${logLines(watched.logs)} ${this.#tree()}
        </div>
        <aside class="card" aria-label="Facts">${runFacts(this.app, run, this.now)}</aside>
      </div>
    `
  }

  #missing(): TemplateResult {
    return html`<div class="empty">
      <h1>There is no such run</h1>
      <p>It may have been deleted, or you may not read it.</p>
      <p>${link(this.app, HOME, 'All runs')}</p>
    </div>`
  }

  #head(run: Run, watched: WatchedRun): TemplateResult {
    const copy = () =>
      navigator.clipboard.writeText(run.id).then(
        () => this.app.say('Copied the id.'),
        () => this.app.say('The browser does not allow to copy.', 'bad'),
      )
    return html`<header class="page-head run-head">
      <div class="title">
        <p class="crumb">${link(this.app, this.app.list(), 'Runs')} ${run.parentRunId ? html`/ ${link(this.app, { page: 'run', id: run.parentRunId }, 'parent')}` : nothing}</p>
        <h1>${run.jobName}</h1>
        <p class="sub">
          ${phaseBadge(run.phase)}
          <button class="quiet small mono" title="Copy the id" @click=${copy}>${run.id}${icon('copy')}</button>
          ${watched.connection === 'reconnecting' ? html`<span class="badge warn" role="status">${icon('spin')}Reconnecting…</span>` : nothing}
        </p>
      </div>
      <span class="grow"></span>
      ${runActions(this.app, run, watched, () => void watched.read())}
    </header>`
  }

  #timeline(run: Run, watched: WatchedRun): TemplateResult {
    const timeline = timelineOf(watched.facts)
    const step = this.#chosenStep
    const choose = (name: string) => {
      this.#chosenStep = name === this.#chosenStep ? null : name
      this.requestUpdate()
    }
    const look = {
      now: this.now,
      isOver: hasEnded(run),
      hasStarted: run.startedAt !== null,
      isLoading: watched.view.sequence < run.lastEventSequence,
      chosen: step,
      choose,
    }
    return html`<section class="card" aria-label="Timeline">
      <header><h2>Timeline</h2>${watched.skipped > 0 ? html`<span class="hint">Without its first ${counted(watched.skipped, 'event')}.</span>` : nothing}</header>
      ${watched.isLogOff ? html`<p class="hint">The engine keeps no event log (eventLog: false), so there is no timeline.</p>` : timelineView(timeline, look)}
      ${step === null ? nothing : this.#stepDetail(step, watched, timeline.steps.find(({ name }) => name === step)?.attempts.at(-1)?.error ?? null)}
    </section>`
  }

  #stepDetail(step: string, { outputs, runId }: WatchedRun, error: string | null): TemplateResult {
    if (outputs.has(step)) return valueView(`Result of ${step}`, outputs.get(step), `${runId}-step.json`)
    if (error !== null) return html`<p class="notice bad">${error}</p>`
    return html`<p class="hint">Step ${step} has no result yet.</p>`
  }

  #tree(): TemplateResult | typeof nothing {
    const children = this.#children
    const page = children?.pages.get(this.runId)
    if (!children || !page || page.runs.length === 0) return errorNotice(children?.error ?? null)
    return html`<section class="card" aria-label="Runs that it triggered">
      <header><h2>Children</h2></header>
      ${runTree(this.app, children, this.runId, this.now)}
    </section>`
  }
}

define('durably-run-view', RunView)
