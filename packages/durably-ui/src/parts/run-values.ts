// What went into a run and what came out.
import type { Failure, Run } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import { valueView } from './value-view.ts'

export function runValues(run: Run): TemplateResult {
  return html`<section class="card values">
    ${run.status === 'completed' ? valueView('Output', run.output, `${run.id}-output.json`) : nothing}
    ${run.failure ? failureView(run.failure) : nothing} ${valueView('Input', run.payload, `${run.id}-input.json`)}
  </section>`
}

function failureView(failure: Failure): TemplateResult {
  return html`<section class="value" aria-label="Error">
    <header><h3>Error</h3></header>
    ${causes(failure).map(
      ({ name, code, message, stack }, i) => html`<div class="failure">
        <p><strong>${i > 0 ? 'caused by ' : ''}${name}</strong>${code ? html` <code>${code}</code>` : nothing}: ${message}</p>
        ${stack ? html`<pre tabindex="0">${stack}</pre>` : nothing}
      </div>`,
    )}
  </section>`
}

function causes(failure: Failure): Failure[] {
  return failure.cause ? [failure, ...causes(failure.cause)] : [failure]
}
