// A value from the database: its beginning as text, all of it as a file.
import { html, nothing, type TemplateResult } from 'lit'
import { jsonOf } from '../values/json-of.ts'
import { printValue } from '../values/print-value.ts'
import { numberInWords } from '../words/plural.ts'
import { icon } from './icon.ts'

export const SHOWN_CHARS_MAX = 20_000

export function valueView(heading: string, value: unknown, fileName: string): TemplateResult {
  const { text, isCut } = printValue(value, SHOWN_CHARS_MAX)
  return html`<section class="value" aria-label=${heading}>
    <header>
      <h3>${heading}</h3>
      <button class="quiet small" @click=${() => save(fileName, jsonOf(value))}>${icon('download')}Download</button>
    </header>
    <pre tabindex="0">${text}${isCut ? '…' : ''}</pre>
    ${isCut ? html`<p class="hint">The first ${numberInWords(SHOWN_CHARS_MAX)} characters. Download it to see all of it.</p>` : nothing}
  </section>`
}

/** Saves a text as a file of the reader. */
export function save(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const anchor = Object.assign(document.createElement('a'), { href: url, download: fileName })
  anchor.click()
  URL.revokeObjectURL(url)
}
