import type { Progress } from '@coji/durably/client'
import { html, type TemplateResult } from 'lit'
import { numberInWords } from '../words/plural.ts'

export function progressBar({ current, total, message }: Progress): TemplateResult {
  const known = total !== undefined && total > 0
  return html`<div class="progress">
    <progress aria-label="Progress" value=${known ? Math.min(1, Math.max(0, current / total)) : 0}></progress>
    <span>${progressInWords({ current, ...(total !== undefined && { total }) })}${message ? html` · ${message}` : ''}</span>
  </div>`
}

export function progressInWords({ current, total }: Progress): string {
  return total === undefined ? numberInWords(current) : `${numberInWords(current)} of ${numberInWords(total)}`
}
