// An event of the log in its full shape: the values that stand in other rows are joined in.
import type { Codec } from '../model/codec.ts'
import { DurablyError } from '../model/errors.ts'
import type { DurablyEvent, EventRow, RecordedPayload, WorkerErrorEvent, WorkerLeadEvent } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import { type RunRow, readColumn } from '../model/run.ts'
import { readStepColumn, type StepRow } from '../model/step.ts'
import type { Store } from '../store/store.ts'

/** An event of one run, as its log tells it; `sequence` is its place in that log. */
export type RunLogEvent = Exclude<DurablyEvent, WorkerErrorEvent | WorkerLeadEvent>

export interface FullEventParts {
  store: Pick<Store, 'steps' | 'logs'>
  codec: Codec
}

export async function fullEvents({ store, codec }: FullEventParts, run: RunRow, rows: readonly EventRow[]): Promise<RunLogEvent[]> {
  const told = rows.map((row) => ({ row, payload: JSON.parse(row.payload) as RecordedPayload }))
  const stepIds = told.flatMap(({ payload }) => payload.stepId ?? [])
  const logIds = told.flatMap(({ payload }) => payload.logId ?? [])
  const steps = stepIds.length === 0 ? [] : await store.steps.find(run.id, stepIds)
  const logs = logIds.length === 0 ? [] : await store.logs.find(run.id, logIds)
  const joined: Joined = { run, codec, steps: byId(steps), logs: byId(logs) }
  return told.map(({ row, payload }) => fullEvent(joined, row, payload))
}

export interface Joined {
  run: RunRow
  codec: Codec
  steps: ReadonlyMap<string, StepRow>
  logs: ReadonlyMap<string, LogRow>
}

function byId<T extends { id: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** `rows` of what an event refers to must be there. */
export function fullEvent({ run, codec, steps, logs }: Joined, row: EventRow, payload: RecordedPayload): RunLogEvent {
  const base = { sequence: row.seq, timestamp: row.createdAt, runId: run.id, jobName: run.jobName }
  const { type } = row
  switch (type) {
    case 'run:trigger':
    case 'run:start':
      return { ...base, type, payload: readColumn(run, 'payload', codec) }
    case 'run:progress':
      return { ...base, type, progress: payload.progress ?? { current: 0 } }
    case 'run:complete':
      return { ...base, type, output: readColumn(run, 'output', codec), duration: (run.finishedAt ?? 0) - (run.startedAt ?? 0) }
    case 'run:fail':
      return { ...base, type, error: payload.error ?? '', failedStepName: payload.failedStepName ?? '' }
    case 'run:retry': {
      const { error, attempt, runAt } = payload
      return {
        ...base,
        type,
        ...(error !== undefined && { error }),
        ...(attempt !== undefined && { attempt }),
        ...(runAt !== undefined && { runAt }),
      }
    }
    case 'run:wait':
      return { ...base, type, runAt: payload.runAt ?? row.createdAt }
    case 'run:cancel':
    case 'run:release':
    case 'run:reclaim':
      return { ...base, type }
    case 'step:start':
      return { ...base, type, stepName: payload.stepName ?? '', stepIndex: payload.stepIndex ?? 0 }
    case 'step:complete': {
      const step = present(steps, payload.stepId, run)
      const duration = Date.parse(step.completedAt ?? step.startedAt) - Date.parse(step.startedAt)
      return { ...base, type, stepName: step.name, stepIndex: step.index, output: readStepColumn(step, 'output', codec), duration }
    }
    case 'step:fail': {
      const step = present(steps, payload.stepId, run)
      return { ...base, type, stepName: step.name, stepIndex: step.index, error: step.error ?? '' }
    }
    case 'log:write': {
      const { stepName, level, message, data } = present(logs, payload.logId, run)
      const { jobName: _, ...logBase } = base
      return { ...logBase, type, stepName, level, message, data: codec.decode(data) }
    }
    case 'stream:chunk': {
      const { stepName = '', from = 0, chunks = null, state } = payload
      const checkpoint = state === undefined ? {} : { checkpoint: { state: codec.decode(state) } }
      return { ...base, type, stepName, from, chunks: codec.decode(chunks) as unknown[], ...checkpoint }
    }
    case 'stream:reset':
      return { ...base, type, stepName: payload.stepName ?? '', to: payload.to ?? 0 }
    case 'worker:error':
    case 'worker:lead':
      throw new DurablyError(
        'row_unreadable',
        `event ${row.seq} of run ${run.id}: no run has events of type ${type}; delete the row or the run`,
      )
  }
}

/** Rows that an event refers to go only with their run. */
function present<T>(rows: ReadonlyMap<string, T>, id: string | undefined, run: RunRow): T {
  const row = rows.get(id ?? '')
  if (!row) throw new DurablyError('run_deleted', `run ${run.id} was deleted while it was subscribed to`, { runId: run.id })
  return row
}
