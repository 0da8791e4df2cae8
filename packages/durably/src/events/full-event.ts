// Events as readers of the log get them: the values that are in other rows are joined in.
import type { Codec } from '../model/codec.ts'
import type { EventRow, RecordedPayload, RunLogEvent } from '../model/event.ts'
import type { RunRow } from '../model/run.ts'
import type { Store } from '../store/store.ts'
import { type Joined, runEvent } from './run-event.ts'

export interface FullEventDeps {
  store: Pick<Store, 'steps' | 'logs'>
  codec: Codec
}

export async function fullEvents({ store, codec }: FullEventDeps, run: RunRow, rows: readonly EventRow[]): Promise<RunLogEvent[]> {
  const recorded = rows.map((row) => ({ row, payload: JSON.parse(row.payload) as RecordedPayload }))
  const stepIds = recorded.flatMap(({ payload }) => payload.stepId ?? [])
  const logIds = recorded.flatMap(({ payload }) => payload.logId ?? [])
  const steps = stepIds.length === 0 ? [] : await store.steps.find(run.id, stepIds)
  const logs = logIds.length === 0 ? [] : await store.logs.find(run.id, logIds)
  const joined: Joined = { run, codec, steps: byId(steps), logs: byId(logs) }
  return recorded.map(({ row, payload }) => fullEvent(joined, row, payload))
}

function byId<T extends { id: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** The rows that the event refers to must be in `joined`. */
export function fullEvent(joined: Joined, { seq, type, createdAt }: EventRow, payload: RecordedPayload): RunLogEvent {
  return Object.assign(runEvent(joined, { type, payload, createdAt }), { sequence: seq, timestamp: createdAt })
}
