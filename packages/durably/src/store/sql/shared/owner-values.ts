// What an owner write binds. Every statement of the write picks from the same values by name.
import type { CompiledQuery } from 'kysely'
import { type Env, iso } from '../../../model/env.ts'
import type { StepRow } from '../../../model/step.ts'
import { eventsOf, type OwnerVerb, type OwnerWrite } from '../../owner-write.ts'
import type { OwnerParams } from './guards.ts'
import { jsonRows } from './json-rows.ts'
import { logValues } from './log-values.ts'

export interface WriteValues extends OwnerParams {
  now: number
  at: string
  /** Rows of `[type, payload, createdAt]`. */
  events: string
  eventCount: number
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

/** The statements of one owner write. The first one updates the run; it returns a row if the write was accepted. */
export type OwnerQueries = (write: OwnerWrite, values: WriteValues) => CompiledQuery[]

export function valuesOf(write: OwnerWrite, env: Env): WriteValues {
  const { claim, number, verb, logs, progress, streams, effects } = write
  const now = env.wall()
  const at = iso(now)
  const events = eventsOf(write, at)
  return {
    runId: claim.runId,
    generation: claim.generation,
    token: claim.token,
    parentRunId: claim.parentRunId ?? null,
    leaderEpoch: claim.leaderEpoch ?? null,
    number,
    now,
    at,
    events: events.length === 0 ? '[]' : jsonRows(events.map(({ type, payload, createdAt }) => [type, JSON.stringify(payload), createdAt])),
    eventCount: events.length,
    logs: logs.length === 0 ? '[]' : jsonRows(logs.map(logValues)),
    logCount: logs.length,
    progress,
    streams,
    effects,
    leaseMs: 'leaseMs' in verb ? verb.leaseMs : null,
    ...endingValues(verb),
    ...stepValues(verb.type === 'recordStep' ? verb.step : null),
    endsStream: verb.type === 'recordStep' && verb.endsStream ? 1 : 0,
  }
}

type EndingValues = Pick<WriteValues, 'output' | 'error' | 'failure' | 'reason' | 'runAt' | 'waitingFor' | 'signals'>
const NO_ENDING: EndingValues = { output: null, error: null, failure: null, reason: null, runAt: null, waitingFor: null, signals: null }

function endingValues(verb: OwnerVerb): EndingValues {
  switch (verb.type) {
    case 'complete':
      return { ...NO_ENDING, output: verb.output }
    case 'fail':
      return { ...NO_ENDING, error: verb.error, failure: verb.failure, reason: verb.reason }
    case 'retryLater':
      return { ...NO_ENDING, error: verb.error, failure: verb.failure, runAt: verb.runAt, waitingFor: verb.waitingFor }
    case 'park':
      return { ...NO_ENDING, runAt: verb.runAt, waitingFor: verb.waitingFor, signals: verb.signals }
    default:
      return NO_ENDING
  }
}

type StepValues = Pick<WriteValues, Extract<keyof WriteValues, `step${string}`>>

function stepValues(step: StepRow | null): StepValues {
  return {
    stepId: step?.id ?? null,
    stepName: step?.name ?? null,
    stepIndex: step?.index ?? null,
    stepStatus: step?.status ?? null,
    stepOutput: step?.output ?? null,
    stepError: step?.error ?? null,
    stepFailure: step?.failure ?? null,
    stepStartedAt: step?.startedAt ?? null,
    stepCompletedAt: step?.completedAt ?? null,
  }
}
