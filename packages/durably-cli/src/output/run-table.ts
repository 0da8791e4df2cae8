import type { Run } from '@coji/durably'
import { firstLine } from './first-line.ts'
import type { Io } from './io.ts'
import { phaseColor } from './paint.ts'
import { type Cell, type Column, table } from './table.ts'
import { relative, shownDuration } from './time.ts'
import { waitingInWords } from './waiting.ts'

const COLUMNS: readonly Column[] = [
  { title: 'RUN', whole: true },
  { title: 'JOB' },
  { title: 'PHASE', whole: true },
  { title: 'STEPS', right: true, whole: true },
  { title: 'CREATED', whole: true },
  { title: 'TOOK', whole: true },
  { title: 'NOTE' },
]

export function runTable(io: Pick<Io, 'columns' | 'hasColors'>, runs: readonly Run[], nowMs: number): string {
  return table(
    io,
    COLUMNS,
    runs.map((run): (Cell | string)[] => [
      run.id,
      run.jobName,
      { text: run.phase, color: phaseColor(run.phase) },
      String(run.currentStepIndex),
      relative(run.createdAt, nowMs),
      tookOf(run, nowMs),
      noteOf(run, nowMs),
    ]),
  )
}

function tookOf({ startedAt, finishedAt, status }: Run, nowMs: number): string {
  if (startedAt === null) return ''
  const end = finishedAt === null ? nowMs : Date.parse(finishedAt)
  return shownDuration(Math.max(0, end - Date.parse(startedAt))) + (status === 'running' ? '…' : '')
}

/** The one thing that a person wants to know of it. */
function noteOf(run: Run, nowMs: number): string {
  if (run.status === 'failed') return run.error
  // A list does not know whether its key is held; durably explain says so.
  if (run.waitingFor?.kind === 'slot' && run.concurrencyKey !== null) return `due, has key ${run.concurrencyKey}`
  if (run.waitingFor?.kind === 'retry' && run.error !== null)
    return `${waitingInWords(run.waitingFor, nowMs)}, after ${JSON.stringify(firstLine(run.error))}`
  if (run.waitingFor) return waitingInWords(run.waitingFor, nowMs)
  const { progress } = run
  if (!progress) return run.status === 'running' && run.workerId ? `on ${run.workerId}` : ''
  const { current, total, message } = progress
  return [total === undefined ? `${current}` : `${current}/${total}`, message].filter(Boolean).join(' ')
}
