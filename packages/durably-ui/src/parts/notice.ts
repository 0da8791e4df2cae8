// What a page says when it has nothing to show, or cannot show it.
import { html, nothing, type TemplateResult } from 'lit'
import { icon } from './icon.ts'

export function emptyNotice(heading: string, text: unknown = nothing): TemplateResult {
  return html`<div class="empty"><h2>${heading}</h2><p>${text}</p></div>`
}

/** What was read before stays on the page below it. */
export function errorNotice(error: string | null): TemplateResult | typeof nothing {
  return error === null ? nothing : html`<div class="notice bad" role="alert">${icon('alert')}<p>${error}</p></div>`
}

export function loadingNotice(): TemplateResult {
  return html`<p class="loading" role="status">Loading…</p>`
}
