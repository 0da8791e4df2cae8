// A run in a list: what it is, how it is, and the one thing to know about it.
import type { Run } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { durationInWords } from '../words/duration.ts'
import { shortId } from '../words/run-name.ts'
import { waitInWords } from '../words/waiting.ts'
import { link } from './link.ts'
import { elapsed, moment } from './moment.ts'
import { phaseMark } from './phase-badge.ts'
import { progressInWords } from './progress-bar.ts'

const LABELS_SHOWN = 2
const SUMMARY_CHARS = 200

export function runRow(app: App, run: Run, now: number): TemplateResult {
  const labels = Object.entries(run.labels)
  return link(
    app,
    { page: 'run', id: run.id },
    html`${phaseMark(run.phase)}
      <span class="name">${run.jobName}</span>
      <span class="summary ${run.status === 'failed' ? 'bad' : ''}">${summaryOf(run, now)}</span>
      <span class="labels">
        ${labels.slice(0, LABELS_SHOWN).map(([name, value]) => html`<span class="label">${name}=${value}</span>`)}
        ${labels.length > LABELS_SHOWN ? html`<span class="label">+${labels.length - LABELS_SHOWN}</span>` : nothing}
      </span>
      <code class="id" title=${run.id}>${shortId(run.id)}</code>
      <span class="took"><span class="hidden">took </span>${elapsed(run.startedAt, run.finishedAt, now)}</span>
      <span class="when"><span class="hidden">triggered </span>${moment(run.createdAt, now)}</span>`,
    { class: 'row' },
  )
}

function summaryOf(run: Run, now: number): string {
  if (run.status === 'failed') return shortened(run.error)
  if (run.waitingFor?.kind === 'retry' && run.error !== null) return shortened(`${waitInWords(run.waitingFor, now)} ${run.error}`)
  if (run.waitingFor && run.waitingFor.kind !== 'slot') return waitInWords(run.waitingFor, now)
  if (run.status === 'running' && run.progress)
    return shortened([progressInWords(run.progress), run.progress.message].filter(Boolean).join(' · '))
  if (run.recoveries > 0) return `Its worker was lost; taken over ${run.recoveries === 1 ? 'once' : `${run.recoveries} times`}.`
  if (run.status === 'pending' && run.waitingFor?.kind === 'slot') return dueInWords(run, now)
  return ''
}

/** A list does not know whether the key is held; the page of the run says so. */
function dueInWords({ runAt, concurrencyKey }: Run, now: number): string {
  return `Due for ${durationInWords(now - Date.parse(runAt))}${concurrencyKey === null ? '' : `, has key “${shortened(concurrencyKey)}”`}.`
}

function shortened(text: string): string {
  return text.length > SUMMARY_CHARS ? `${text.slice(0, SUMMARY_CHARS)}…` : text
}
