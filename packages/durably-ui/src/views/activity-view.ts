// How many runs are in each phase over time, as far as this page has counted them.
import type { Phase } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import '../parts/counts-chart.ts'
import { link } from '../parts/link.ts'
import { errorNotice, loadingNotice } from '../parts/notice.ts'
import { ALL_RUNS } from '../route.ts'
import { durationInWords } from '../words/duration.ts'
import { PHASE_WORDS, PHASES } from '../words/phase.ts'
import { counted, numberInWords } from '../words/plural.ts'
import { define, View } from './view.ts'

/** They only grow, and would make the others flat. */
const HIDDEN_AT_FIRST: readonly Phase[] = ['completed', 'cancelled']

class ActivityView extends View {
  #hidden = new Set<Phase>(HIDDEN_AT_FIRST)

  protected override render(): TemplateResult {
    const { samples, error } = this.app.counts
    const [first] = samples
    const last = samples.at(-1)
    if (!first || !last)
      return html`<header class="page-head"><h1>Activity</h1></header>${errorNotice(error)}${error ? nothing : loadingNotice()}`
    const present = PHASES.filter((phase) => samples.some(({ counts }) => counts[phase] > 0))
    return html`<header class="page-head"><h1>Activity</h1></header>
      ${errorNotice(error)}
      <section class="card" aria-label="Runs by phase over time">
        <header>
          <h2>Runs by phase</h2>
          <span class="hint">${counted(samples.length, 'count')} in ${durationInWords(last.at - first.at)}, made while this page is open.</span>
        </header>
        <div class="phases" role="group" aria-label="Lines of the chart">${present.map((phase) => this.#toggle(phase, last.counts[phase]))}</div>
        <durably-counts-chart .samples=${samples} .phases=${present.filter((phase) => !this.#hidden.has(phase))}></durably-counts-chart>
      </section>
      <table class="counts">
        <caption class="hidden">Runs by phase, now</caption>
        <tbody>
          ${PHASES.map((phase) => html`<tr><th scope="row">${link(this.app, { page: 'runs', query: { ...ALL_RUNS, phases: [phase] } }, PHASE_WORDS[phase].label)}</th><td>${numberInWords(last.counts[phase])}</td><td class="hint">${PHASE_WORDS[phase].meaning}</td></tr>`)}
        </tbody>
      </table>`
  }

  #toggle(phase: Phase, count: number): TemplateResult {
    const isShown = !this.#hidden.has(phase)
    const toggle = () => {
      if (!this.#hidden.delete(phase)) this.#hidden.add(phase)
      this.requestUpdate()
    }
    return html`<button class="phase" aria-pressed=${isShown} @click=${toggle}><span class="dot phase-${phase}"></span>${PHASE_WORDS[phase].label}<b>${numberInWords(count)}</b></button>`
  }
}

define('durably-activity-view', ActivityView)
