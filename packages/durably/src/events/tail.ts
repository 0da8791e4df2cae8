// Tail — the event log of one run, from a place in it to its end: what is there, then what comes.
//   T1. Nothing is skipped: it reads on from the last `seq` it gave, and that order is the order of commits.
//   T2. One page is read when the reader asks for more; a slow reader holds no more than that.
//   T3. It ends behind the event that ended the run, unless the run was retried since.
import { unlessAborted } from '../model/abort.ts'
import { backoffMs } from '../model/backoff.ts'
import { type Env, sleep } from '../model/env.ts'
import { DurablyError, isPassing } from '../model/errors.ts'
import { isTerminal, type RunRow } from '../model/run.ts'
import type { Store } from '../store/store.ts'
import { type FullEventParts, fullEvents, type RunLogEvent } from './full-event.ts'
import type { RunWatch } from './run-watch.ts'

const PAGE_MAX = 50

export interface TailParts extends FullEventParts {
  store: Store
  env: Env
  watch: RunWatch
}

export async function* tail(parts: TailParts, runId: string, after: number, signal: AbortSignal): AsyncGenerator<RunLogEvent, void> {
  const { store, watch } = parts
  let cursor = after
  let isKnown = false
  let endSeen: number | null = null
  while (!signal.aborted) {
    const { changed, done } = watch.next(runId)
    try {
      const rows = await untilAnswered(parts, signal, () => store.events.list(runId, { after: cursor, limit: PAGE_MAX }))
      // After the log, so that it holds the values of every event in it.
      const run = await untilAnswered(parts, signal, () => store.runs.get(runId))
      if (signal.aborted) return
      if (!run) throw gone(runId, isKnown)
      if (!isKnown && cursor > run.lastEventSequence) throw ahead(run, cursor)
      isKnown = true
      const events = await untilAnswered(parts, signal, () => fullEvents(parts, run, rows))
      // Who holds an event may take its time, or never come back: meanwhile nothing is watched for it.
      if (events.length > 0) done()
      for (const event of events) {
        cursor = event.sequence
        yield event
      }
      // So the row is old by now: whether it ends, or waits, is decided when there was nothing more to read.
      if (events.length > 0) continue
      const ends = isTerminal(run.status) ? run.lastEventSequence : null
      if (ends === null) await unlessAborted(signal, changed)
      // Some events may be missing: the log was off for a while. Then it ends when there is still nothing to read.
      else if (cursor >= ends || ends === endSeen) return
      endSeen = ends
    } finally {
      done()
    }
  }
}

/** A store that is away comes back: a subscription outlasts it. */
async function untilAnswered<T>({ env }: TailParts, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error
      await unlessAborted(signal, sleep(env, backoffMs(env, attempt)))
    }
  }
}

function gone(runId: string, wasThere: boolean): DurablyError {
  return wasThere
    ? new DurablyError('run_deleted', `run ${runId} was deleted while it was subscribed to`, { runId })
    : new DurablyError('run_not_found', `there is no run ${JSON.stringify(runId)}`, { runId })
}

function ahead({ id, lastEventSequence }: RunRow, after: number): DurablyError {
  return new DurablyError('cursor_ahead', `after is ${after}, but the log of run ${id} ends at ${lastEventSequence}`, { runId: id })
}
