import type { Durably, Run, RunLogEvent } from '@coji/durably'

/** How long the end of the log is waited for. It is there already, unless the run was deleted or its last events were replaced meanwhile. */
const PATIENCE_MS = 2000

/** The events of a run up to its state as it was read; empty if there is no event log. */
export async function readEvents(durably: Durably, { id, lastEventSequence }: Run): Promise<RunLogEvent[]> {
  const events: RunLogEvent[] = []
  if (lastEventSequence === 0) return events
  const patience = AbortSignal.timeout(PATIENCE_MS)
  try {
    for await (const event of durably.subscribe(id, { signal: patience })) {
      events.push(event)
      if (event.sequence >= lastEventSequence) break
    }
  } catch (error) {
    if (!patience.aborted) throw error
  }
  return events
}
