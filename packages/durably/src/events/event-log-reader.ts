// EventLogReader — reads the event log of one run from a place in it, a page at a time.
//   T1. Nothing is skipped: it reads on from the last `seq` it gave, and that order is the order of commits.
//   T2. One page is read when it is asked for; a slow reader holds no more than that.
//   T3. It ends after the event that ended the run, unless the run was retried since.
//   T4. The run's row is read when an event needs its values, at the end, and after a wake-up without events, because the run may be deleted. A row
//       that was read for the last event says already that it was the last: a run that completed is not retried.
import { unlessAborted } from '../model/abort.ts'
import { backoffMs } from '../model/backoff.ts'
import { type Env, sleep } from '../model/env.ts'
import { DurablyError, isPassing } from '../model/errors.ts'
import type { EventType, RunLogEvent } from '../model/event.ts'
import { isTerminal, type RunRow, type TerminalStatus } from '../model/run.ts'
import type { Store } from '../store/store.ts'
import { type FullEventDeps, fullEvents } from './full-event.ts'

const PAGE_MAX = 100

/** The events that end a run; its row says whether it was retried since. */
const ENDS: ReadonlySet<EventType> = new Set(['run:complete', 'run:fail', 'run:cancel'])

/** The events whose values are in the run's row. */
const SHOWS_RUN: ReadonlySet<EventType> = new Set(['run:trigger', 'run:start', 'run:complete'])

export interface EventLogReaderDeps extends FullEventDeps {
  store: Store
  env: Env
  /** Whether the store reads what was moved to files. */
  archives: boolean
}

/** Without events there is nothing new yet. `isAll`: the log has no more events now, so wait for a change before the next read. */
export type LogPage = { events: readonly RunLogEvent[]; isAll: boolean } | { ended: TerminalStatus }

const NOTHING_NEW: LogPage = { events: [], isAll: true }

export class EventLogReader {
  readonly #deps: EventLogReaderDeps
  readonly #runId: string
  #cursor: number
  /** The run as it was read last, without its input and output: they may be large, and a reader may wait for long. */
  #run: RunRow | null = null
  /** The last event that was read ended the run, or none was read yet: the run may have no further events. */
  #isAtAnEnd = true
  /** The row that was read for the last event says that there are no more. */
  #hasCompleted = false

  constructor(deps: EventLogReaderDeps, runId: string, after: number) {
    this.#deps = deps
    this.#runId = runId
    this.#cursor = after
  }

  /** The `seq` of the last event that was read. */
  get cursor(): number {
    return this.#cursor
  }

  /**
   * Reads the next page. The caller begins to watch the run before it calls this, so that it misses no change before it waits. While the
   * store is unavailable it tries again. `isWoken`: something happened to the run since the last read; if there is no new event, the run
   * itself is read.
   */
  async read(signal: AbortSignal, isWoken: boolean): Promise<LogPage> {
    const { env } = this.#deps
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#read(isWoken)
      } catch (error) {
        if (!isPassing(error) || signal.aborted) throw error
        await unlessAborted(signal, sleep(env, backoffMs(env, attempt)))
      }
    }
  }

  async #read(isWoken: boolean): Promise<LogPage> {
    if (this.#hasCompleted) return { ended: 'completed' }
    let endSeen: number | null = null
    for (;;) {
      const events = await this.#readEvents()
      if (events.length > 0) return { events, isAll: events.length < PAGE_MAX && !this.#isAtAnEnd && this.#cursor >= this.#head }
      if (!isWoken && !this.#isAtAnEnd) return NOTHING_NEW
      const { status, lastEventSequence: head } = await this.#readRun()
      if (!isTerminal(status)) return NOTHING_NEW
      // If the event log was switched off for a while, the last events were never stored: the log has ended if a second read finds nothing.
      if (this.#cursor >= head || endSeen === head) return { ended: status }
      endSeen = head
    }
  }

  async #readEvents(): Promise<RunLogEvent[]> {
    const { store } = this.#deps
    const rows = await store.events.list(this.#runId, { after: this.#cursor, limit: PAGE_MAX })
    const last = rows.at(-1)
    if (!last) return []
    // The run is read after its log, so that its row has the values of every event that was read.
    const needsRun = rows.some(({ type }) => SHOWS_RUN.has(type))
    const run = this.#run && !needsRun ? this.#run : await this.#readRun()
    const events = await fullEvents(this.#deps, run, rows)
    this.#cursor = last.seq
    this.#isAtAnEnd = ENDS.has(last.type)
    this.#hasCompleted = run.status === 'completed' && last.seq >= run.lastEventSequence
    return events
  }

  async #readRun(): Promise<RunRow> {
    const run = await this.#deps.store.runs.get(this.#runId)
    if (!run) throw gone(this.#runId, this.#run !== null)
    if (!this.#run && this.#cursor > run.lastEventSequence) throw ahead(run, this.#cursor)
    if (run.logRef && !this.#deps.archives) throw archived(run)
    this.#run = { ...run, payload: null, output: null }
    return run
  }

  /** Where the log ended when the run was last seen. */
  get #head(): number {
    return this.#run?.lastEventSequence ?? 0
  }
}

function gone(runId: string, wasThere: boolean): DurablyError {
  return wasThere
    ? new DurablyError('run_deleted', `run ${runId} was deleted while it was subscribed to`, { runId })
    : new DurablyError('run_not_found', `there is no run ${JSON.stringify(runId)}`, { runId })
}

function archived({ id }: RunRow): DurablyError {
  return new DurablyError('invalid_config', `run ${id} is archived: createDurably needs the option archive`, { runId: id })
}

export function ahead({ id, lastEventSequence }: RunRow, after: number): DurablyError {
  return new DurablyError('cursor_ahead', `after is ${after}, but the log of run ${id} ends at ${lastEventSequence}`, { runId: id })
}
