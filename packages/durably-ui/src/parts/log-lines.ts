// The last log lines of a run. The newest is at the end, in sight unless the reader has scrolled up.
import { html, nothing, type TemplateResult } from 'lit'
import { LOG_LINES_MAX, type LogLine } from '../state/watched-run.ts'
import { printValue } from '../values/print-value.ts'
import { keepAtEnd } from './keep-at-end.ts'

const DATA_CHARS_MAX = 500

export function logLines(lines: readonly LogLine[]): TemplateResult | typeof nothing {
  if (lines.length === 0) return nothing
  return html`<section class="card" aria-label="Logs">
    <header><h2>Logs</h2>${lines.length === LOG_LINES_MAX ? html`<span class="hint">The last ${LOG_LINES_MAX} lines.</span>` : nothing}</header>
    <ol class="logs" tabindex="0" ${keepAtEnd(lines.length)}>
      ${lines.map(
        ({ timestamp, level, message, data, stepName }) => html`<li class=${level}>
          <time datetime=${timestamp} title=${timestamp}>${new Date(timestamp).toLocaleTimeString([], { hour12: false })}</time>
          <span class="level">${level}</span>
          <span class="message">${stepName ? html`<span class="step-name">${stepName}</span> ` : nothing}${message}${dataText(data)}</span>
        </li>`,
      )}
    </ol>
  </section>`
}

function dataText(data: unknown): TemplateResult | typeof nothing {
  if (data === undefined || data === null) return nothing
  const { text, isCut } = printValue(data, DATA_CHARS_MAX)
  return html` <code>${onOneLine(text)}${isCut ? '…' : ''}</code>`
}

function onOneLine(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
}
