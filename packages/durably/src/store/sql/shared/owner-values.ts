// What an owner write binds. Every statement of the write picks from the same values by name.
import type { CompiledQuery, RawBuilder } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { StepRow } from '../../../model/step.ts'
import { eventsOf, type OwnerVerb, type OwnerWrite } from '../../owner-write.ts'
import type { SqlDeps } from './deps.ts'
import type { OwnerParams } from './guards.ts'
import { jsonRows } from './json-rows.ts'
import { logValues } from './log-values.ts'
import type { Param } from './statement.ts'

export interface WriteValues extends OwnerParams {
  now: number
  at: string
  eventCount: number
  /** The last event, and the one before it, of a write with at most two, as most writes are. */
  lastType: string | null
  lastPayload: string | null
  lastAt: string | null
  firstType: string | null
  firstPayload: string | null
  firstAt: string | null
  /** The events of a write with more than two, as rows of `[type, payload, createdAt]`. A database takes longer to read them. */
  events: string | null
  logs: string
  logCount: number
  progress: string | null
  streams: string | null
  effects: string | null
  leaseMs: number | null
  runAt: number | null
  waitingFor: string | null
  signals: number | null
  output: string | null
  error: string | null
  failure: string | null
  reason: string | null
  parentRunId: string | null
  leaderEpoch: number | null
  stepId: string | null
  stepName: string | null
  stepIndex: number | null
  stepStatus: string | null
  stepOutput: string | null
  stepError: string | null
  stepFailure: string | null
  stepStartedAt: string | null
  stepCompletedAt: string | null
  /** 1 when the step was a stream. */
  endsStream: number
}

/** What one verb or another has. */
type VerbValues = Partial<
  Pick<WriteValues, 'leaseMs' | 'runAt' | 'waitingFor' | 'signals' | 'output' | 'error' | 'failure' | 'reason'> & Pick<OwnerVerb, 'type'>
>

/** The statements of one owner write. The first one updates the run. */
export type OwnerQueries = (write: OwnerWrite, values: WriteValues) => CompiledQuery[]

/** What an update says of a write that it accepted. */
export type WriteAnswer = (p: Param<WriteValues>) => RawBuilder<unknown>

/** Of so many events each has columns of its own. */
const FEW_EVENTS = 2

export function valuesOf(write: OwnerWrite, { env, eventLog }: Pick<SqlDeps, 'env' | 'eventLog'>): WriteValues {
  const { claim, number, verb, logs, progress, streams, effects } = write
  const now = env.wall()
  const at = iso(now)
  const events = eventsOf(write, at)
  const isFew = events.length <= FEW_EVENTS
  const last = eventLog && isFew ? events.at(-1) : undefined
  const first = eventLog && isFew ? events.at(-2) : undefined
  const { leaseMs = null, runAt = null, waitingFor = null, signals = null }: VerbValues = verb
  const { output = null, error = null, failure = null, reason = null }: VerbValues = verb
  const step: Partial<StepRow> = verb.type === 'recordStep' ? verb.step : {}
  return {
    runId: claim.runId,
    generation: claim.generation,
    token: claim.token,
    parentRunId: claim.parentRunId ?? null,
    leaderEpoch: claim.leaderEpoch ?? null,
    number,
    now,
    at,
    eventCount: events.length,
    lastType: last?.type ?? null,
    lastPayload: last ? JSON.stringify(last.payload) : null,
    lastAt: last?.createdAt ?? null,
    firstType: first?.type ?? null,
    firstPayload: first ? JSON.stringify(first.payload) : null,
    firstAt: first?.createdAt ?? null,
    events: eventLog && !isFew ? jsonRows(events.map(({ type, payload, createdAt }) => [type, JSON.stringify(payload), createdAt])) : null,
    logs: jsonRows(logs.map(logValues)),
    logCount: logs.length,
    progress,
    streams,
    effects,
    leaseMs,
    runAt,
    waitingFor,
    signals,
    output,
    error,
    failure,
    reason,
    stepId: step.id ?? null,
    stepName: step.name ?? null,
    stepIndex: step.index ?? null,
    stepStatus: step.status ?? null,
    stepOutput: step.output ?? null,
    stepError: step.error ?? null,
    stepFailure: step.failure ?? null,
    stepStartedAt: step.startedAt ?? null,
    stepCompletedAt: step.completedAt ?? null,
    endsStream: verb.type === 'recordStep' && verb.endsStream ? 1 : 0,
  }
}
