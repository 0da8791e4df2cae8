// The phase of a run: an icon with a colour, and its name.
import type { Phase } from '@coji/durably/client'
import { html, type TemplateResult } from 'lit'
import { PHASE_WORDS } from '../words/phase.ts'
import { type IconName, icon } from './icon.ts'

const ICON_OF: { readonly [phase in Phase]: IconName } = {
  running: 'spin',
  pending: 'dashes',
  assigned: 'dashes',
  orphaned: 'alert',
  waiting: 'pause',
  sleeping: 'schedules',
  cancelling: 'stop',
  stale: 'alert',
  confirming: 'alert',
  failed: 'cross',
  completed: 'check',
  cancelled: 'stop',
}

/** The icon alone, with its name for screen readers. */
export function phaseMark(phase: Phase): TemplateResult {
  const { label, tone, meaning } = PHASE_WORDS[phase]
  return html`<span class="mark ${tone}" title=${`${label}: ${meaning}`}>${icon(ICON_OF[phase])}<span class="hidden">${label}</span></span>`
}

export function phaseBadge(phase: Phase): TemplateResult {
  const { label, tone, meaning } = PHASE_WORDS[phase]
  return html`<span class="badge ${tone}" title=${meaning}>${icon(ICON_OF[phase])}${label}</span>`
}
