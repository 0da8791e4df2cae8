// Tail — the event log of one run, from a place in it to its end: what is there, then what comes.
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
      // Who holds an event may take its time, or never come back: meanwhile nothing is watched for it.
      else done()
      yield* page.events
    } finally {
      done()
    }
  }
}
