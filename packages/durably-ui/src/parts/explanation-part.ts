// Why a run does not go on, in words, and what helps. A run that executes or has ended well needs none.
import type { Explanation, Run } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { causeInWords, nameOf, remedyInWords, runElsewhere } from '../words/explanation.ts'
import { waitInWords } from '../words/waiting.ts'
import { icon } from './icon.ts'
import { link } from './link.ts'

export function explanationPart(app: App, run: Run, explanation: Explanation | null, now: number): TemplateResult | typeof nothing {
  if (!explanation || explanation.cause === 'executing') return nothing
  const waits = explanation.chain[0]?.waitingFor ?? []
  const others = explanation.chain.slice(1)
  const last = runElsewhere(explanation)
  const isBad = run.status === 'failed'
  return html`<section class="card why ${isBad ? 'bad' : ''}" aria-label=${isBad ? 'Why it failed' : 'Why it does not go on'}>
    ${icon(isBad ? 'cross' : 'pause')}
    <div>
      <h2>${causeInWords(run, explanation, now)}</h2>
      ${waits.slice(1).map((wait) => html`<p>${waitInWords(wait, now)}</p>`)}
      ${others.length > 0 ? html`<p>${others.map((other) => html`→ ${link(app, { page: 'run', id: other.runId }, `${other.jobName} (${other.phase})`)} `)}</p>` : nothing}
      <p>
        ${remedyInWords(explanation, now)}
        ${last ? link(app, { page: 'run', id: last.runId }, `Open ${nameOf(last)}`) : nothing}
      </p>
      <details>
        <summary>Explanation</summary>
        <p class="explained">${explanation.chain.map(({ text }) => text).join('\n')}</p>
      </details>
    </div>
  </section>`
}
