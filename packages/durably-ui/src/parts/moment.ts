// A moment as people say it; the exact one is its title.
import { html, type TemplateResult } from 'lit'
import { durationInWords, momentInWords } from '../words/duration.ts'

export function moment(iso: string, now: number): TemplateResult {
  return html`<time datetime=${iso} title=${iso}>${momentInWords(iso, now)}</time>`
}

/** How long something took, or takes so far. */
export function elapsed(startedAt: string | null, finishedAt: string | null, now: number): string {
  if (startedAt === null) return '–'
  return durationInWords((finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(startedAt))
}
