// RunObserver — one run of one client, for all components that observe it.
//   O1. The state comes from the run and from its log, never from the connection. The newer of the two counts, so a log that is replayed
//       from its beginning does not show a finished run as running.
//   O2. All components share one subscription. It begins after the run as it was read, or at the first event if a component needs the
//       history: streams and logs.
//   O3. Every failure is shown, and tried again. A run that has ended is read again, less and less often: it may be retried or deleted
//       elsewhere.
import {
  type ConnectionState,
  type DurablyClient,
  emptyRunView,
  type LogWriteEvent,
  type Run,
  type RunLogEvent,
  type RunView,
  reduceRun,
} from '@coji/durably/client'
import type { Clock } from './clock.ts'
import { lookMs, Pause, retryMs } from './pause.ts'
import { hasEnded, isSame, runAfter, viewOf } from './run-after.ts'
import { asError, type Connection, failureOf, gone, hasCode, isGone, type RunState, UNKNOWN_RUN } from './run-state.ts'
import { isShallowEqual } from './shallow-equal.ts'
import { Subscribers } from './subscribers.ts'

/** The most log lines that are kept; `getLogs` returns all. */
const LOGS_MAX = 1000

export interface RunObserverDeps {
  client: Pick<DurablyClient, 'getRun' | 'subscribe'>
  runId: string
  clock: Clock
  onEnd(): void
}

export class RunObserver {
  readonly #deps: RunObserverDeps
  readonly #subscribers: Subscribers
  readonly #pause: Pause
  #following = new AbortController()
  #wasThere = false
  /** The run as it was read. */
  #run: Run | null = null
  #view: RunView | null = null
  /** The sequences of completed steps that `#run` does not count yet. */
  #newSteps: number[] = []
  #problem: Error | null = null
  #isRefreshing = false
  #refreshAgain = false

  state: RunState = UNKNOWN_RUN
  /** A component needs the history (O2). The streams and the logs are complete only then, and `isAtEnd` is of all of it. */
  wantsHistory = false
  streams: RunView['streams'] = {}
  logs: readonly LogWriteEvent[] = []

  constructor(deps: RunObserverDeps) {
    const { clock, onEnd } = deps
    this.#deps = deps
    this.#pause = new Pause(clock)
    const end = () => {
      this.#following.abort()
      onEnd()
    }
    this.#subscribers = new Subscribers({ clock, start: () => this.#start(), end })
  }

  join(listener: () => void, { history }: { history: boolean }): () => void {
    const isLate = history && !this.wantsHistory && this.#view !== null
    this.wantsHistory ||= history
    if (isLate) this.#start()
    return this.#subscribers.join(listener)
  }

  /** Takes a run that a command has just returned. */
  know(run: Run): void {
    this.#read(run)
    this.look()
    this.#subscribers.endSoon()
  }

  /** Reads the run again, for a change that is not in the log. */
  look(): void {
    if (this.#pause.end() || !this.#view) return
    void this.#refresh()
  }

  #start(): void {
    this.#following.abort()
    this.#following = new AbortController()
    // Keep the current state while the log is replayed.
    if (this.#run && this.#view) this.#run = runAfter(this.#run, this.#view, this.#newSteps.length)
    this.#forgetLog()
    this.#change({ isAtEnd: false, connection: 'connecting' })
    void this.#follow(this.#following.signal)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    // After this turn all components that mount together have joined, and it is known whether one of them wants the history.
    await null
    for (let isFirst = true, failures = 0, looks = 0; !signal.aborted; isFirst = false) {
      try {
        if (!isFirst || !this.#run) await this.#ask()
        if (!this.wantsHistory) this.#forgetLog()
        const before = this.#run
        if (!this.#isAtEnd()) {
          for await (const event of this.#events(signal)) {
            if (signal.aborted) return
            failures = 0
            looks = 0
            this.#apply(event)
          }
          await this.#ask()
        }
        if (signal.aborted) return
        const isAtEnd = this.#isAtEnd(before)
        if (isAtEnd) this.#setConnection('idle', null)
        this.#change({ isAtEnd })
        await this.#pause.wait(isAtEnd ? lookMs(looks++) : retryMs(failures++), signal)
      } catch (error) {
        if (signal.aborted) return
        if (isGone(error)) this.#forget()
        else this.#setConnection('reconnecting', error)
        await this.#pause.wait(isGone(error) ? lookMs(looks++) : retryMs(failures++), signal)
      }
    }
  }

  /** Also true when the log has ended too early, because it was off for a while, and the run has not changed since `before`. */
  #isAtEnd(before?: Run | null): boolean {
    const run = this.#run
    if (!run) return false
    this.#view ??= this.wantsHistory ? emptyRunView : viewOf(run)
    return hasEnded(run.status) && (this.#view.sequence >= run.lastEventSequence || run === before)
  }

  #events(signal: AbortSignal): AsyncIterable<RunLogEvent> {
    const { client, runId } = this.#deps
    const onConnection = (connection: ConnectionState) => {
      if (!signal.aborted) this.#setConnection(connection, connection === 'live' ? null : this.#problem)
    }
    return client.subscribe(runId, { after: this.#view?.sequence ?? 0, signal, onConnection })
  }

  #apply(event: RunLogEvent): void {
    if (!this.#run || !this.#view) return
    this.#view = reduceRun(this.#view, event)
    this.streams = this.#view.streams
    if (event.type === 'log:write') this.logs = [...this.logs, event].slice(-LOGS_MAX)
    if (event.sequence > this.#run.lastEventSequence) {
      const isStep = event.type === 'step:complete'
      const isMove = event.type.startsWith('run:')
      if (isStep) this.#newSteps.push(event.sequence)
      if (isStep || isMove) this.#show()
      // The event does not carry times, counts and the phase.
      if (isMove && event.type !== 'run:progress') void this.#refresh()
    }
    this.#subscribers.notify()
  }

  async #ask(): Promise<void> {
    const { client, runId } = this.#deps
    const run = await client.getRun(runId)
    if (!run) throw gone(runId, this.#wasThere)
    this.#read(run)
  }

  /** One read at a time. A read that fails is made up for when the log has ended. */
  async #refresh(): Promise<void> {
    this.#refreshAgain = true
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    while (this.#refreshAgain) {
      this.#refreshAgain = false
      await this.#ask().catch(() => {})
    }
    this.#isRefreshing = false
  }

  #read(run: Run): void {
    const known = this.#run
    if (known && (run.version < known.version || run.lastEventSequence < known.lastEventSequence || isSame(run, known))) return
    this.#wasThere = true
    this.#run = run
    this.#newSteps = this.#newSteps.filter((sequence) => sequence > run.lastEventSequence)
    this.#show()
  }

  #show(): void {
    if (!this.#run) return
    const run = this.#view ? runAfter(this.#run, this.#view, this.#newSteps.length) : this.#run
    this.#change({ run, status: run.status, isAtEnd: this.state.isAtEnd && hasEnded(run.status), error: this.#problem ?? failureOf(run) })
  }

  #setConnection(connection: Connection, problem: unknown): void {
    const before = this.#problem
    this.#problem = problem === null ? null : asError(problem)
    this.#change({ connection })
    if (this.#problem !== before) this.#change({ error: this.#problem ?? failureOf(this.state.run) })
    // The cursor is ahead of the log: this is another database, or an older copy of it.
    if (hasCode(problem, 'cursor_ahead')) {
      this.#run = null
      this.#forgetLog()
    }
  }

  #forget(): void {
    if (this.state.status === 'gone') return
    this.#run = null
    this.#forgetLog()
    this.#problem = gone(this.#deps.runId, this.#wasThere)
    this.#change({ run: null, status: 'gone', isAtEnd: true, connection: 'idle', error: this.#problem })
  }

  #forgetLog(): void {
    this.#view = null
    this.#newSteps = []
    this.streams = {}
    this.logs = []
  }

  #change(change: Partial<RunState>): void {
    const state = { ...this.state, ...change }
    if (isShallowEqual(state, this.state)) return
    this.state = state
    this.#subscribers.notify()
  }
}
