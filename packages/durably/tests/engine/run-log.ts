// The event log of a run as a reader finds it at this moment; a subscription would wait for the end of the run.
import { emptyRunView, type RunView, reduceRun } from '../../src/client/run-view.ts'
import { fullEvents } from '../../src/events/full-event.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import type { EventType, RunLogEvent } from '../../src/model/event.ts'
import type { Store } from '../../src/store/store.ts'

export async function logOf(store: Store, runId: string): Promise<RunLogEvent[]> {
  const rows = await store.events.list(runId)
  const run = await store.runs.get(runId)
  return run ? fullEvents({ store, codec: jsonCodec() }, run, rows) : []
}

export async function viewOf(store: Store, runId: string): Promise<RunView> {
  return (await logOf(store, runId)).reduce(reduceRun, emptyRunView)
}

export async function textOf(store: Store, runId: string, stepName: string): Promise<string | undefined> {
  return (await viewOf(store, runId)).streams[stepName]?.text
}

/** How many rows of this type the log holds, of one step if it is named. */
export async function countOf(store: Store, runId: string, type: EventType, stepName?: string): Promise<number> {
  const log = await logOf(store, runId)
  return log.filter((event) => event.type === type && (stepName === undefined || ('stepName' in event && event.stepName === stepName)))
    .length
}
