// What an owner write binds. Every statement of the write picks from the same values by name.
import type { CompiledQuery } from 'kysely'
import { type Env, iso } from '../../../model/env.ts'
import { eventsOf, type OwnerWrite } from '../../owner-write.ts'
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
  const step = verb.type === 'recordStep' ? verb.step : null
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
    runAt: 'runAt' in verb ? verb.runAt : null,
    waitingFor: 'waitingFor' in verb ? verb.waitingFor : null,
    signals: 'signals' in verb ? verb.signals : null,
    output: 'output' in verb ? verb.output : null,
    error: 'error' in verb ? verb.error : null,
    failure: 'failure' in verb ? verb.failure : null,
    reason: 'reason' in verb ? verb.reason : null,
    stepId: step?.id ?? null,
    stepName: step?.name ?? null,
    stepIndex: step?.index ?? null,
    stepStatus: step?.status ?? null,
    stepOutput: step?.output ?? null,
    stepError: step?.error ?? null,
    stepFailure: step?.failure ?? null,
    stepStartedAt: step?.startedAt ?? null,
    stepCompletedAt: step?.completedAt ?? null,
    endsStream: verb.type === 'recordStep' && verb.endsStream ? 1 : 0,
  }
}
