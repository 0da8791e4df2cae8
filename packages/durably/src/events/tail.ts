// Tail — the event log of one run, from a place in it to its end: what is there, then what comes.
import { unlessAborted } from '../model/abort.ts'
import type { RunLogEvent } from '../model/event.ts'
import { LogReader, type LogReaderParts } from './event-log-reader.ts'
import type { RunWatch } from './run-watch.ts'

export interface TailParts extends LogReaderParts {
  watch: RunWatch
}

export async function* tail(parts: TailParts, runId: string, after: number, signal: AbortSignal): AsyncGenerator<RunLogEvent, void> {
  const reader = new LogReader(parts, runId, after)
  let isWoken = true
  while (!signal.aborted) {
    const { changed, done } = parts.watch.next(runId)
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
