// The facts about a run, as a list of names and values. What is not there is left out.
import type { Run } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { ALL_RUNS } from '../route.ts'
import { link } from './link.ts'
import { elapsed, moment } from './moment.ts'
import { workerColour } from './worker-colour.ts'

export function runFacts(app: App, run: Run, now: number): TemplateResult {
  const search = (text: string, content: unknown = text) => link(app, { page: 'runs', query: { ...ALL_RUNS, search: text } }, content)
  const isDueLater = run.status === 'pending' && Date.parse(run.runAt) > now
  return html`<dl class="facts">
    ${fact('Job', link(app, { page: 'job', name: run.jobName }, run.jobName))}
    ${fact('Worker', run.workerId && html`<span class="worker"><span class="dot ${workerColour(run.workerId)}"></span><span>${run.workerId}</span></span>`)}
    ${fact('Triggered', moment(run.createdAt, now))} ${fact('Started', run.startedAt && moment(run.startedAt, now))}
    ${fact('Ended', run.finishedAt && moment(run.finishedAt, now))} ${fact('Took', run.startedAt && elapsed(run.startedAt, run.finishedAt, now))}
    ${fact('Due', isDueLater && moment(run.runAt, now))} ${fact('Deadline', run.deadlineAt && moment(run.deadlineAt, now))}
    ${fact('Steps done', String(run.currentStepIndex))} ${fact('Failed attempts', run.attempts > 0 && String(run.attempts))}
    ${fact('Lost workers', run.recoveries > 0 && String(run.recoveries))} ${fact('Failed because', run.reason)}
    ${fact('Concurrency key', run.concurrencyKey && search(`key:${quoted(run.concurrencyKey)}`, run.concurrencyKey))}
    ${fact('Idempotency key', run.idempotencyKey && search(`idempotency:${quoted(run.idempotencyKey)}`, run.idempotencyKey))}
    ${fact('Schedule', run.scheduleId && search(`schedule:${quoted(run.scheduleId)}`, run.scheduleId))}
    ${fact('Scheduled for', run.scheduledFor && moment(run.scheduledFor, now))}
    ${fact('Parent', run.parentRunId && link(app, { page: 'run', id: run.parentRunId }, html`<code>${run.parentRunId.slice(-8)}</code>`))}
    ${Object.entries(run.labels).map(([name, value]) => fact(name, search(`${name}=${quoted(value)}`, value)))}
    ${fact('Version', String(run.version))}
  </dl>`
}

function fact(name: string, value: unknown): TemplateResult | typeof nothing {
  return value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>` : nothing
}

function quoted(text: string): string {
  return /\s/.test(text) ? `"${text}"` : text
}
