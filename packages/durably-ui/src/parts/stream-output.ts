// What the `ctx.stream` steps of a run have emitted so far, live.
import type { RunView } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import { jsonOf } from '../values/json-of.ts'
import { printValue } from '../values/print-value.ts'
import { icon } from './icon.ts'
import { keepAtEnd } from './keep-at-end.ts'
import { SHOWN_CHARS_MAX, save } from './value-view.ts'

export function streamOutput(streams: RunView['streams'], runId: string): TemplateResult | typeof nothing {
  const entries = Object.entries(streams)
  if (entries.length === 0) return nothing
  return html`<section class="card" aria-label="Stream output">
    <header><h2>Stream output</h2></header>
    ${entries.map(([name, { chunks, isDone }]) => {
      const text = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : `\n${printValue(chunk, SHOWN_CHARS_MAX).text}\n`)).join('')
      return html`<div class="value">
        <header>
          <h3>${name} ${isDone ? nothing : html`<span class="badge active">${icon('spin')}live</span>`}</h3>
          <button class="quiet small" @click=${() => save(`${runId}-stream.json`, jsonOf(chunks))}>${icon('download')}Download</button>
        </header>
        <pre class="stream" tabindex="0" ${keepAtEnd(text.length)}>${text.length > SHOWN_CHARS_MAX ? '…' : nothing}${text.slice(-SHOWN_CHARS_MAX)}</pre>
      </div>`
    })}
  </section>`
}
