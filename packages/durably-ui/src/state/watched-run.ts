// WatchedRun — everything a page shows of one run, kept up to date.
//   V1. Events say that something changed; the run and its explanation are then read again, at most a few times a second.
//   V2. Some things change without an event: a lease that expires, a sleep that ends, a retry of a run that had ended. So the run is also read
//       every few seconds, and its events are followed again if it goes on.
//   V3. Of a long history only the last events are read, and of log lines only the last ones are kept.
import {
  type ConnectionState,
  type DurablyClient,
  DurablyError,
  type Explanation,
  emptyRunView,
  type Run,
  type RunLogEvent,
  reduceRun,
  type WaitingFor,
} from '@coji/durably/client'
import { type Fact, factOf } from '../timeline/fact.ts'
import { pause, repeatedly } from './clock.ts'
import { errorText } from './error-text.ts'

const EVENTS_MAX = 2000
export const LOG_LINES_MAX = 500
const GATHER_MS = 250
const READ_AGAIN_MS = 4000

export type LogLine = Pick<
  Extract<RunLogEvent, { type: 'log:write' }>,
  'sequence' | 'timestamp' | 'level' | 'message' | 'data' | 'stepName'
>

export class WatchedRun {
  /** Undefined before it was read, null if there is no such run. */
  run: Run | null | undefined = undefined
  explanation: Explanation | null = null
  view = emptyRunView
  facts: Fact[] = []
  logs: LogLine[] = []
  /** What each step returned, by its name. */
  readonly outputs = new Map<string, unknown>()
  /** How many of the first events were left out. */
  skipped = 0
  connection: ConnectionState | 'ended' = 'connecting'
  /** The engine keeps no event log, so there is no history. */
  isLogOff = false
  error: string | null = null

  readonly #client: DurablyClient
  readonly runId: string
  readonly #changed: () => void
  readonly #ended = new AbortController()
  #isFollowing = false
  #isGathering = false

  constructor(client: DurablyClient, id: string, changed: () => void) {
    this.#client = client
    this.runId = id
    this.#changed = changed
  }

  /** What it waits for, as far as that is known. The explanation is newer than the run. */
  get waits(): readonly WaitingFor[] {
    const { waitingFor } = this.run ?? {}
    return this.explanation?.chain[0]?.waitingFor ?? (waitingFor ? [waitingFor] : [])
  }

  async start(): Promise<void> {
    const { signal } = this.#ended
    await this.read()
    await repeatedly(
      () => READ_AGAIN_MS,
      signal,
      () => this.read(),
    )
  }

  stop(): void {
    this.#ended.abort()
  }

  /** Also after something was done to the run. */
  async read(): Promise<void> {
    const { signal } = this.#ended
    try {
      const run = await this.#client.getRun(this.runId)
      const isSettled = run === null || run.status === 'completed' || run.status === 'cancelled'
      const explanation = isSettled ? null : await this.#client.explain(this.runId).catch(() => null)
      if (signal.aborted) return
      Object.assign(this, { run, explanation, error: null })
      const isBehind = run !== null && (run.lastEventSequence > this.view.sequence || !hasEnded(run))
      if (isBehind && !this.#isFollowing && !this.isLogOff) void this.#follow(run)
    } catch (error) {
      if (!signal.aborted) this.error = errorText(error)
    }
    if (!signal.aborted) this.#changed()
  }

  async #follow({ lastEventSequence }: Run): Promise<void> {
    const { signal } = this.#ended
    this.#isFollowing = true
    if (this.view.sequence === 0) this.skipped = Math.max(0, lastEventSequence - EVENTS_MAX)
    const onConnection = (state: ConnectionState) => {
      this.connection = state
      this.#changed()
    }
    try {
      const after = Math.max(this.view.sequence, this.skipped)
      for await (const event of this.#client.subscribe(this.runId, { after, signal, onConnection })) this.#take(event)
      this.connection = 'ended'
    } catch (error) {
      if (signal.aborted) return
      this.#lost(error)
    } finally {
      this.#isFollowing = false
    }
    void this.#readSoon()
  }

  /** A part of the history that is gone is skipped; with any other error the run alone is shown. */
  #lost(error: unknown): void {
    this.connection = 'ended'
    if (error instanceof DurablyError && error.firstSequence !== undefined) this.skipped = error.firstSequence - 1
    else if (error instanceof DurablyError && error.code === 'event_log_off') this.isLogOff = true
    else this.error = errorText(error)
  }

  #take(event: RunLogEvent): void {
    this.view = reduceRun(this.view, event)
    const fact = factOf(event)
    if (fact) this.facts.push(fact)
    if (this.facts.length > 2 * EVENTS_MAX) {
      this.skipped += this.facts.length - EVENTS_MAX
      this.facts = this.facts.slice(-EVENTS_MAX)
    }
    if (event.type === 'step:complete') this.outputs.set(event.stepName, event.output)
    if (event.type === 'log:write') this.logs = [...this.logs, event].slice(-LOG_LINES_MAX)
    void this.#readSoon()
  }

  /** V1. */
  async #readSoon(): Promise<void> {
    if (this.#isGathering) return
    this.#isGathering = true
    await pause(GATHER_MS, this.#ended.signal)
    this.#isGathering = false
    if (!this.#ended.signal.aborted) await this.read()
  }
}

export function hasEnded({ status }: Run): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}
