// Why a run does not go on, in words, and what helps. A run that executes or has ended well needs none.
import type { Explanation, Run } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { waitInWords } from '../words/waiting.ts'
import { icon } from './icon.ts'
import { link } from './link.ts'

export function explanationPart(app: App, run: Run, explanation: Explanation | null, now: number): TemplateResult | typeof nothing {
  if (!explanation || explanation.cause === 'executing') return nothing
  const waits = explanation.chain[0]?.waitingFor ?? []
  const others = explanation.chain.slice(1)
  const isBad = run.status === 'failed'
  return html`<section class="card why ${isBad ? 'bad' : ''}" aria-label=${isBad ? 'Why it failed' : 'Why it does not go on'}>
    ${icon(isBad ? 'cross' : 'pause')}
    <div>
      <h2>${headline(run, explanation, now)}</h2>
      ${waits.slice(1).map((wait) => html`<p>${waitInWords(wait, now)}</p>`)}
      ${others.length > 0 ? html`<p>${others.map((other) => html`→ ${link(app, { page: 'run', id: other.runId }, `${other.jobName} (${other.phase})`)} `)}</p>` : nothing}
      <details>
        <summary>Explanation</summary>
        <p class="explained">${explanation.text}</p>
      </details>
    </div>
  </section>`
}

function headline(run: Run, { chain, cause }: Explanation, now: number): string {
  const [wait] = chain[0]?.waitingFor ?? []
  if (run.status === 'failed') return run.error
  if (wait) return waitInWords(wait, now)
  switch (cause) {
    case 'lease over':
      return 'Its worker is silent, and its lease is over. Another worker takes it over.'
    case 'confirming':
      return 'Its worker is silent and may come back.'
    case 'cancelling':
      return 'It was asked to stop, and its function has not ended yet.'
    case 'assigned':
      return 'A leader has chosen its worker, which has not started it yet.'
    default:
      return `It does not go on: ${cause}.`
  }
}
