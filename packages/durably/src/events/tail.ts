// Tail — the events of one run from a place in its log on: those that are stored, then new ones, until the run has ended.
import { unlessAborted } from '../model/abort.ts'
import type { RunLogEvent } from '../model/event.ts'
import { EventLogReader, type EventLogReaderDeps } from './event-log-reader.ts'
import type { RunWatch } from './run-watch.ts'

export interface TailDeps extends EventLogReaderDeps {
  watch: RunWatch
}

export async function* tail(deps: TailDeps, runId: string, after: number, signal: AbortSignal): AsyncGenerator<RunLogEvent, void> {
  const reader = new EventLogReader(deps, runId, after)
  let isWoken = true
  while (!signal.aborted) {
    const { changed, done } = deps.watch.next(runId)
    try {
      const page = await reader.read(signal, isWoken)
      if (signal.aborted || 'ended' in page) return
      isWoken = page.events.length === 0
      if (isWoken) await unlessAborted(signal, changed)
      // The reader of an event may take long, or never come back; meanwhile the run is not watched for it.
      else done()
      yield* page.events
    } finally {
      done()
    }
  }
}
