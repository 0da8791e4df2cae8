// One run, as a page of text: what it is, what it waits for, and its timeline.
import type { Log, Run } from '@coji/durably'
import type { Stretch, Timeline, TimelineLog, TimelineStep } from '../timeline.ts'
import type { Io } from './io.ts'
import { type Color, paint, phaseColor } from './paint.ts'
import { printable, shownValue } from './printable.ts'
import { clockTime, relative, shownDuration } from './time.ts'
import { waitingInWords } from './waiting.ts'
import { cut } from './width.ts'

const VALUE_CHARS_MAX = 2000

export function showRun(io: Io, run: Run, timeline: Timeline, logs: readonly Log[], nowMs: number): string {
  return [...facts(io, run, nowMs), '', ...timelineLines(io, timeline), ...storedLogs(io, timeline, logs)].join('\n')
}

function facts(io: Io, run: Run, nowMs: number): string[] {
  const rows: [string, string][] = [
    ['run', run.id],
    ['job', printable(run.jobName)],
    ['phase', paint(io, phaseColor(run.phase), run.phase)],
    ['created', `${run.createdAt} (${relative(run.createdAt, nowMs)})`],
    ['worker', printable(run.workerId ?? '')],
    ['attempts', run.attempts === 0 ? '' : `${run.attempts} failed`],
    ['recoveries', run.recoveries === 0 ? '' : `${run.recoveries} workers lost in a row`],
    [
      'labels',
      Object.entries(run.labels)
        .map(([name, value]) => printable(`${name}=${value}`))
        .join(' '),
    ],
    ['key', printable(run.concurrencyKey ?? '')],
    ['parent', run.parentRunId ?? ''],
    ['schedule', printable(run.scheduleId ?? '')],
    ['waits', run.waitingFor ? printable(waitingInWords(run.waitingFor, nowMs)) : ''],
    ['input', value(io, run.payload)],
    ['output', run.status === 'completed' ? value(io, run.output) : ''],
    ['error', run.status === 'failed' ? paint(io, 'red', printable(run.error)) : ''],
    ['reason', run.reason ?? ''],
  ]
  return rows.flatMap(([name, text]) => (text === '' ? [] : [`${paint(io, 'dim', name.padEnd(10))}  ${text}`]))
}

/** A large value would hide everything else; `--json` has it whole. */
function value(io: Io, payload: unknown): string {
  const text = shownValue(payload)
  const max = Math.min(VALUE_CHARS_MAX, io.columns - 12)
  return text.length > max
    ? `${cut(text.slice(0, max + 1), max)}${io.isTerminal ? '' : ` (${text.length} characters; --json shows all)`}`
    : text
}

function timelineLines(io: Io, { triggeredAt, stretches, between }: Timeline): string[] {
  const moments = (index: number) =>
    between
      .filter(({ beforeStretch }) => beforeStretch === index)
      .map(({ at, what }) => `${time(io, at)}  ${paint(io, 'yellow', printable(what))}`)
  return [
    ...(triggeredAt === null ? [] : [`${time(io, triggeredAt)}  triggered`]),
    ...stretches.flatMap((stretch, i) => [...moments(i), ...stretchLines(io, stretch)]),
    ...moments(stretches.length),
  ]
}

function stretchLines(io: Io, { workerId, startedAt, endedAt, end, entries, open }: Stretch): string[] {
  const worker = workerId === null ? 'a worker' : printable(workerId)
  return [
    `${time(io, startedAt)}  ${paint(io, 'bold', `▶ ${worker}`)}`,
    ...entries.map((entry) => `${time(io, entry.at)}    ${entry.kind === 'step' ? stepLine(io, entry) : logLine(io, entry)}`),
    ...open.map(
      (name) =>
        `${' '.repeat(12)}    ${paint(io, 'yellow', `… ${printable(name)}`)}  ${end === null ? 'executing' : 'begun, not recorded'}`,
    ),
    ...(end === null || endedAt === null ? [] : [`${time(io, endedAt)}  ${paint(io, endColor(end), `■ ${printable(end)}`)}`]),
  ]
}

function endColor(end: string): Color {
  if (end === 'completed') return 'green'
  return end.startsWith('failed') ? 'red' : 'yellow'
}

function stepLine(io: Io, { name, durationMs, error, willRetry }: TimelineStep): string {
  if (error === null) return `${paint(io, 'green', '✓')} ${printable(name)}  ${paint(io, 'dim', shownDuration(durationMs ?? 0))}`
  return `${paint(io, 'red', '✗')} ${printable(name)}  ${paint(io, 'red', printable(error))}${willRetry ? ' (is tried again)' : ''}`
}

function logLine(io: Io, { level, message, stepName }: Pick<TimelineLog, 'level' | 'message' | 'stepName'>): string {
  const color = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim'
  return paint(io, color, `${level}  ${stepName === null ? '' : `[${printable(stepName)}] `}${printable(message)}`)
}

/** Where there is no event log the stored lines are all there is. */
function storedLogs(io: Io, { stretches }: Timeline, logs: readonly Log[]): string[] {
  const isShown = stretches.some(({ entries }) => entries.some(({ kind }) => kind === 'log'))
  if (isShown || logs.length === 0) return []
  return ['', paint(io, 'dim', 'logs'), ...logs.map((line) => `${time(io, line.timestamp)}    ${logLine(io, line)}`)]
}

function time(io: Io, at: string): string {
  return paint(io, 'dim', clockTime(at))
}
