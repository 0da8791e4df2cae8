// The list of runs: phases with their counts, filters, search, one page of runs.
import type { Phase, RunConditions } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { manyRunsDialog } from '../dialogs/many-runs-dialog.ts'
import { triggerDialog } from '../dialogs/trigger-dialog.ts'
import { icon } from '../parts/icon.ts'
import { emptyNotice, errorNotice, loadingNotice } from '../parts/notice.ts'
import { runRow } from '../parts/run-row.ts'
import { ALL_RUNS, type RunsQuery, SINCE_MS, type Since } from '../route.ts'
import { parseSearch, type Search } from '../search/parse-search.ts'
import { RunsPage } from '../state/runs-page.ts'
import { PHASE_WORDS, PHASES } from '../words/phase.ts'
import { numberInWords } from '../words/plural.ts'
import { define, FollowingView } from './view.ts'

const SINCE_WORDS: { readonly [since in Since]: string } = { '15m': '15 minutes', '1h': 'hour', '24h': '24 hours', '7d': '7 days' }

class RunsView extends FollowingView {
  static override properties = { query: { attribute: false } }
  declare query: RunsQuery
  #page: RunsPage | null = null
  #conditions: RunConditions = {}

  protected override key(): string {
    // A search may name a job that is only known once the jobs were read.
    return JSON.stringify([this.query, this.query.search && this.app.jobs.jobs.length])
  }

  protected override begin(): void {
    const search = this.#search()
    if (search.runId !== null) return this.app.go({ page: 'run', id: search.runId }, { replace: true })
    this.#page ??= new RunsPage(this.app.client, () => this.#changed())
    this.#conditions = this.#conditionsOf(search)
    if (search.problem === null) this.#page.show(this.#conditions, this.query)
    else this.#page.stop()
  }

  protected override end(): void {
    this.#page?.stop()
  }

  #search(): Search {
    return parseSearch(
      this.query.search,
      this.app.jobs.jobs.map(({ name }) => name),
    )
  }

  #conditionsOf({ conditions }: Search): RunConditions {
    const { phases, jobName, since } = this.query
    return {
      ...conditions,
      ...(phases.length > 0 && { phase: phases }),
      ...(jobName !== null && { jobName }),
      ...(since && { createdAfter: new Date(this.now - SINCE_MS[since]) }),
    }
  }

  #changed(): void {
    const page = this.#page
    // There is nothing newer than this page: it is the one that is live.
    if (this.query.before !== null && page?.runs && !page.hasNewer) this.#show({}, { replace: true })
    this.requestUpdate()
  }

  /** Another filter begins with the newest page. */
  #show(change: Partial<RunsQuery>, options = {}): void {
    this.app.go({ page: 'runs', query: { ...this.query, after: null, before: null, ...change } }, options)
  }

  protected override render(): TemplateResult {
    const { problem } = this.#search()
    const page = this.#page
    return html`
      <header class="page-head">
        <h1>Runs</h1>
        ${page?.connection === 'reconnecting' ? html`<span class="badge warn" role="status">${icon('spin')}Reconnecting…</span>` : nothing}
        <span class="grow"></span>
        ${problem === null ? this.#manyButtons() : nothing}
        <button class="primary" @click=${() => this.app.open(triggerDialog(this.app, this.query.jobName))}>${icon('plus')}Trigger</button>
      </header>
      ${this.#phases()} ${this.#filters()} ${errorNotice(problem ?? page?.error ?? null)}
      ${problem === null ? this.#list() : nothing}
    `
  }

  #phases(): TemplateResult {
    const counts = this.app.counts.latest
    const { phases } = this.query
    const shown = PHASES.filter((phase) => phases.includes(phase) || ALWAYS.includes(phase) || (counts?.[phase] ?? 0) > 0)
    const toggle = (phase: Phase) =>
      this.#show({ phases: phases.includes(phase) ? phases.filter((one) => one !== phase) : [...phases, phase] })
    const total = counts ? Object.values(counts).reduce((sum, count) => sum + count, 0) : null
    return html`<div class="phases" role="group" aria-label="Phases">
      <button class="phase" aria-pressed=${phases.length === 0} @click=${() => this.#show({ phases: [] })}>
        All<b>${total === null ? '' : numberInWords(total)}</b>
      </button>
      ${shown.map((phase) => {
        const { label, tone, meaning } = PHASE_WORDS[phase]
        return html`<button class="phase ${tone}" title=${meaning} aria-pressed=${phases.includes(phase)} @click=${() => toggle(phase)}>
          ${label}<b>${counts ? numberInWords(counts[phase] ?? 0) : ''}</b>
        </button>`
      })}
    </div>`
  }

  #filters(): TemplateResult {
    const { search, jobName, since } = this.query
    const submit = (event: SubmitEvent) => {
      event.preventDefault()
      const text = new FormData(event.target as HTMLFormElement).get('search')
      this.#show({ search: typeof text === 'string' ? text.trim() : '' })
    }
    const names = this.app.jobs.jobs.map(({ name }) => name)
    const known = jobName === null || names.includes(jobName) ? names : [jobName, ...names]
    return html`<div class="filters">
      <form role="search" class="search" @submit=${submit}>
        ${icon('search')}
        <input
          type="search"
          name="search"
          aria-label="Search runs"
          placeholder="Run id, job, tenant=acme, key:…"
          title="The id of a run, a part of a job’s name, a label such as tenant=acme, or job: key: idempotency: parent: schedule: with a value"
          autocomplete="off"
          spellcheck="false"
          .value=${search}
          @search=${(event: Event) => (event.target as HTMLInputElement).value === '' && this.#show({ search: '' })}
        />
        <kbd aria-hidden="true">/</kbd>
      </form>
      <select aria-label="Job" @change=${(event: Event) => this.#show({ jobName: (event.target as HTMLSelectElement).value || null })}>
        <option value="" ?selected=${jobName === null}>All jobs</option>
        ${known.map((name) => html`<option value=${name} ?selected=${name === jobName}>${name}</option>`)}
      </select>
      <select
        aria-label="Triggered in the last"
        @change=${(event: Event) => this.#show({ since: ((event.target as HTMLSelectElement).value as Since) || null })}
      >
        <option value="" ?selected=${since === null}>Any time</option>
        ${Object.entries(SINCE_WORDS).map(([value, words]) => html`<option value=${value} ?selected=${value === since}>Last ${words}</option>`)}
      </select>
    </div>`
  }

  #manyButtons(): TemplateResult {
    const close = () => this.querySelector('.menu')?.removeAttribute('open')
    const open = (verb: 'retryRuns' | 'cancelRuns' | 'deleteRuns') => () => {
      close()
      this.app.open(manyRunsDialog(this.app, verb, this.#conditions))
    }
    const leave = ({ relatedTarget, currentTarget }: FocusEvent) => {
      if (relatedTarget !== null && !(currentTarget as Element).contains(relatedTarget as Element)) close()
    }
    return html`<details class="menu" @focusout=${leave}>
      <summary class="quiet" aria-label="All runs that match">All that match${icon('down')}</summary>
      <div class="menu-items">
        <button @click=${open('retryRuns')}>${icon('retry')}Retry those that failed…</button>
        <button @click=${open('cancelRuns')}>${icon('stop')}Cancel those that are open…</button>
        <button class="danger" @click=${open('deleteRuns')}>${icon('trash')}Delete those that ended…</button>
      </div>
    </details>`
  }

  #list(): TemplateResult {
    const page = this.#page
    if (!page?.runs) return page?.error ? html`` : loadingNotice()
    if (page.runs.length === 0) return this.#empty()
    return html`<ol class="runs" aria-label="Runs">
        ${repeat(
          page.runs,
          ({ id }) => id,
          (run) => html`<li>${runRow(this.app, run, this.now)}</li>`,
        )}
      </ol>
      ${this.#pager(page)}`
  }

  #pager({ runs, hasNewer, hasOlder }: RunsPage): TemplateResult | typeof nothing {
    const { before, after } = this.query
    const isLive = before === null && after === null
    if (isLive && !hasOlder) return nothing
    return html`<nav class="pager" aria-label="Pages of runs">
      <button class="quiet" ?disabled=${isLive} @click=${() => this.#show({})}>Newest</button>
      <span class="grow"></span>
      <button class="quiet" data-key="p" ?disabled=${!hasNewer} @click=${() => this.#show({ before: runs?.at(0)?.id ?? null })}>${icon('left')}Newer</button>
      <button class="quiet" data-key="n" ?disabled=${!hasOlder} @click=${() => this.#show({ after: runs?.at(-1)?.id ?? null })}>Older${icon('right')}</button>
    </nav>`
  }

  #empty(): TemplateResult {
    const isFiltered = JSON.stringify(this.query) !== JSON.stringify(ALL_RUNS)
    if (!isFiltered) return emptyNotice('No runs yet', 'Trigger one, and it appears here at once.')
    return emptyNotice('No run matches', html`<button class="quiet" @click=${() => this.#show(ALL_RUNS)}>Show all runs</button>`)
  }
}

const ALWAYS: readonly Phase[] = ['running', 'failed', 'completed']

define('durably-runs-view', RunsView)
