// RunEvent — the one place where an event of a run gets its shape. Listeners of this process and readers of the event log get the
// same event, because both are made of what is recorded of it.
import type { Codec } from '../model/codec.ts'
import { DurablyError } from '../model/errors.ts'
import type { RecordedEvent, RunLogEvent } from '../model/event.ts'
import type { Failure } from '../model/failure.ts'
import type { LogRow } from '../model/log.ts'
import { type RunRow, readColumn } from '../model/run.ts'
import { readStepColumn, type StepRow } from '../model/step.ts'
import type { Unnumbered } from './emitter.ts'

/** The columns of its run that an event needs. */
export type EventRun = Pick<RunRow, 'id' | 'jobName'> & Partial<Pick<RunRow, 'payload' | 'output' | 'startedAt' | 'finishedAt'>>

/** The rows that hold the values of an event. */
export interface Joined {
  run: EventRun
  codec: Codec
  steps: ReadonlyMap<string, StepRow>
  logs: ReadonlyMap<string, LogRow>
}

/** The rows that the event refers to must be in `steps` and `logs`. */
export function runEvent({ run, codec, steps, logs }: Joined, { type, payload, createdAt }: RecordedEvent): Unnumbered<RunLogEvent> {
  const { id: runId, jobName } = run
  const { stepName = '', stepIndex = 0 } = payload
  switch (type) {
    case 'run:trigger':
      return { runId, jobName, type, payload: readColumn(run, 'payload', codec) }
    case 'run:start':
      return { runId, jobName, type, payload: readColumn(run, 'payload', codec), workerId: payload.workerId ?? null }
    case 'run:progress':
      return { runId, jobName, type, progress: payload.progress ?? { current: 0 } }
    case 'run:complete':
      return { runId, jobName, type, output: readColumn(run, 'output', codec), duration: (run.finishedAt ?? 0) - (run.startedAt ?? 0) }
    case 'run:fail':
      return { runId, jobName, type, ...failed(payload.error, payload.failure), failedStepName: payload.failedStepName ?? '' }
    case 'run:retry': {
      const { error, attempt, runAt } = payload
      return {
        runId,
        jobName,
        type,
        ...(error !== undefined && { error }),
        ...(attempt !== undefined && { attempt }),
        ...(runAt !== undefined && { runAt }),
      }
    }
    case 'run:wait':
      return { runId, jobName, type, runAt: payload.runAt ?? createdAt }
    case 'run:cancel':
    case 'run:release':
    case 'run:reclaim':
    case 'run:confirm':
      return { runId, jobName, type }
    case 'run:assign':
    case 'run:orphan':
      return { runId, jobName, type, workerId: payload.workerId ?? '' }
    case 'step:start':
      return { runId, jobName, type, stepName, stepIndex }
    case 'step:complete': {
      const step = present(steps, payload.stepId, run)
      const duration = Date.parse(step.completedAt ?? step.startedAt) - Date.parse(step.startedAt)
      return { runId, jobName, type, stepName: step.name, stepIndex: step.index, output: readStepColumn(step, 'output', codec), duration }
    }
    case 'step:fail': {
      const step = present(steps, payload.stepId, run)
      const failure = readStepColumn(step, 'failure', codec) as Failure | undefined
      return {
        runId,
        jobName,
        type,
        stepName: step.name,
        stepIndex: step.index,
        ...failed(step.error, failure),
        willRetry: payload.willRetry === true,
      }
    }
    case 'log:write': {
      const { level, message, data, ...line } = present(logs, payload.logId, run)
      return { type, runId, stepName: line.stepName, level, message, data: codec.decode(data) }
    }
    case 'stream:chunk': {
      const { from = 0, chunks = null, state } = payload
      const checkpoint = state === undefined ? {} : { checkpoint: { state: codec.decode(state) } }
      return { runId, jobName, type, stepName, from, chunks: codec.decode(chunks) as unknown[], ...checkpoint }
    }
    case 'stream:reset':
      return { runId, jobName, type, stepName, to: payload.to ?? 0 }
    case 'worker:error':
    case 'worker:lead':
      throw new DurablyError('row_unreadable', `run ${run.id}: no run has events of type ${type}; delete the row of the event, or the run`)
  }
}

/** An event of an earlier version has the message alone. */
function failed(error: string | null | undefined, failure: Failure | null | undefined): { error: string; failure: Failure } {
  const message = error ?? ''
  return { error: message, failure: failure ?? { name: 'Error', message } }
}

/** Rows that an event refers to are deleted only with their run. */
function present<T>(rows: ReadonlyMap<string, T>, id: string | undefined, run: EventRun): T {
  const row = rows.get(id ?? '')
  if (!row) throw new DurablyError('run_deleted', `run ${run.id} was deleted while it was subscribed to`, { runId: run.id })
  return row
}
