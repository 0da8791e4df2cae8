// Timeline — the events of a run as stretches of work: each is what one worker did between a claim and the next end, wait or loss.
import type { LogLevel, RunLogEvent } from '@coji/durably'
import type { MadeDecision } from './decisions.ts'

export interface TimelineStep {
  kind: 'step'
  name: string
  at: string
  durationMs: number | null
  /** Null if it completed. */
  error: string | null
  willRetry: boolean
}

export interface TimelineLog {
  kind: 'log'
  at: string
  level: LogLevel
  message: string
  stepName: string | null
}

export interface Stretch {
  /** Null if the worker was not recorded. */
  workerId: string | null
  startedAt: string
  endedAt: string | null
  /** How it ended; null while it goes on. */
  end: string | null
  entries: (TimelineStep | TimelineLog)[]
  /** Steps that were begun and not recorded. */
  open: string[]
}

export interface Timeline {
  triggeredAt: string | null
  stretches: Stretch[]
  /** Moments between stretches, such as a retry by hand, in words. */
  between: { at: string; what: string; beforeStretch: number }[]
}

export function timelineOf(events: Iterable<RunLogEvent>): Timeline {
  const timeline: Timeline = { triggeredAt: null, stretches: [], between: [] }
  for (const event of events) add(timeline, event)
  return timeline
}

/** A decision is made while its run waits, so between two stretches. */
export function withDecisions(timeline: Timeline, decisions: readonly MadeDecision[]): Timeline {
  const made = decisions.map(({ at, step, said }) => ({
    at,
    what: `somebody decided about step ${JSON.stringify(step)}: ${said}`,
    beforeStretch: timeline.stretches.filter(({ startedAt }) => startedAt <= at).length,
  }))
  const between = [...timeline.between, ...made].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return { ...timeline, between }
}

/** What ends a stretch, in words. */
const ENDS: { readonly [type in RunLogEvent['type']]?: (event: never) => string } = {
  'run:complete': () => 'completed',
  'run:fail': ({ error }: { error: string }) => `failed: ${error}`,
  'run:cancel': () => 'cancelled',
  'run:release': () => 'given back by a worker that stops',
  'run:reclaim': () => 'its worker was lost: taken back for another one',
  'run:wait': ({ runAt }: { runAt: string }) => (runAt.startsWith('9999') ? 'waits' : `waits until ${runAt}`),
  'run:retry': ({ error, runAt }: { error?: string; runAt?: string }) =>
    error === undefined ? 'put back by retry' : `attempt failed: ${error}; again at ${runAt}`,
}

const BETWEEN: { readonly [type in RunLogEvent['type']]?: (event: never) => string } = {
  'run:assign': ({ workerId }: { workerId: string }) => `a leader chose ${workerId}`,
  'run:orphan': ({ workerId }: { workerId: string }) => `${workerId} did not start it and is gone`,
  'run:confirm': () => 'its lease is over; its worker may still come back',
}

function add(timeline: Timeline, event: RunLogEvent): void {
  const current = timeline.stretches.at(-1)
  const open = current?.end === null ? current : undefined
  const end = ENDS[event.type]
  const between = BETWEEN[event.type]
  if (event.type === 'run:trigger') timeline.triggeredAt = event.timestamp
  else if (event.type === 'run:start') timeline.stretches.push(stretch(event.workerId, event.timestamp))
  else if (end && open) Object.assign(open, { end: end(event as never), endedAt: event.timestamp })
  else if (end || between)
    timeline.between.push({ at: event.timestamp, what: (end ?? between)?.(event as never) ?? '', beforeStretch: timeline.stretches.length })
  else if (open) addEntry(open, event)
}

function stretch(workerId: string | null, startedAt: string): Stretch {
  return { workerId, startedAt, endedAt: null, end: null, entries: [], open: [] }
}

function addEntry(stretch: Stretch, event: RunLogEvent): void {
  const { timestamp: at } = event
  if (event.type === 'step:start') stretch.open.push(event.stepName)
  if (event.type === 'log:write') {
    const { level, message, stepName } = event
    stretch.entries.push({ kind: 'log', at, level, message, stepName })
  }
  if (event.type !== 'step:complete' && event.type !== 'step:fail') return
  stretch.open = stretch.open.filter((name) => name !== event.stepName)
  const isFailed = event.type === 'step:fail'
  stretch.entries.push({
    kind: 'step',
    name: event.stepName,
    at,
    durationMs: isFailed ? null : event.duration,
    error: isFailed ? event.error : null,
    willRetry: isFailed && event.willRetry,
  })
}
