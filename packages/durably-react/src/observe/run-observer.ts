// RunObserver — one run of one client, for all components that look at it.
//   O1. What is shown comes from the run and from its log, never from the connection. Whichever of the two knows more counts,
//       so a log that is told from its beginning does not show a finished run as running.
//   O2. One subscription, whoever looks. It begins behind the run as it was read; at the first event only when somebody wants
//       the history: streams and logs.
//   O3. Whatever fails is shown and tried again. A run that has ended is looked at again, less and less often: it may be
//       retried or deleted elsewhere.
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

/** A page shows no more; `getLogs` has all. */
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
  #wantsHistory = false
  #wasThere = false
  /** As it was read. */
  #run: Run | null = null
  #view: RunView | null = null
  /** Where the log told of steps that `#run` does not count yet. */
  #newSteps: number[] = []
  #trouble: Error | null = null
  #isRefreshing = false
  #refreshAgain = false

  state: RunState = UNKNOWN_RUN
  /** Whole only when the history is wanted, as are the logs. */
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
    const isLate = history && !this.#wantsHistory && this.#view !== null
    this.#wantsHistory ||= history
    if (isLate) this.#start()
    return this.#subscribers.join(listener)
  }

  /** A run that a command has just answered with. */
  know(run: Run): void {
    this.#read(run)
    this.look()
    this.#subscribers.endSoon()
  }

  /** Something may have happened that the log does not tell. */
  look(): void {
    if (this.#pause.end() || !this.#view) return
    void this.#refresh()
  }

  #start(): void {
    this.#following.abort()
    this.#following = new AbortController()
    // What was heard is not forgotten while it is told again.
    if (this.#run && this.#view) this.#run = runAfter(this.#run, this.#view, this.#newSteps.length)
    this.#forgetLog()
    this.#change({ isAtEnd: false, connection: 'connecting' })
    void this.#follow(this.#following.signal)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    // Until then all that mount together have joined, and it is known whether one of them wants the history.
    await null
    for (let isFirst = true, failures = 0, looks = 0; !signal.aborted; isFirst = false) {
      try {
        if (!isFirst || !this.#run) await this.#ask()
        if (!this.#wantsHistory) this.#forgetLog()
        const before = this.#run
        if (!this.#isAtEnd()) {
          for await (const event of this.#events(signal)) {
            if (signal.aborted) return
            failures = 0
            looks = 0
            this.#take(event)
          }
          await this.#ask()
        }
        if (signal.aborted) return
        const isAtEnd = this.#isAtEnd(before)
        if (isAtEnd) this.#meet('idle', null)
        this.#change({ isAtEnd })
        await this.#pause.wait(isAtEnd ? lookMs(looks++) : retryMs(failures++), signal)
      } catch (error) {
        if (signal.aborted) return
        if (isGone(error)) this.#forget()
        else this.#meet('reconnecting', error)
        await this.#pause.wait(isGone(error) ? lookMs(looks++) : retryMs(failures++), signal)
      }
    }
  }

  /** Also when the log has ended too early, because it was off for a while, for a run that stayed as it was `before`. */
  #isAtEnd(before?: Run | null): boolean {
    const run = this.#run
    if (!run) return false
    this.#view ??= this.#wantsHistory ? emptyRunView : viewOf(run)
    return hasEnded(run.status) && (this.#view.sequence >= run.lastEventSequence || run === before)
  }

  #events(signal: AbortSignal): AsyncIterable<RunLogEvent> {
    const { client, runId } = this.#deps
    const onConnection = (connection: ConnectionState) => {
      if (!signal.aborted) this.#meet(connection, connection === 'live' ? null : this.#trouble)
    }
    return client.subscribe(runId, { after: this.#view?.sequence ?? 0, signal, onConnection })
  }

  #take(event: RunLogEvent): void {
    if (!this.#run || !this.#view) return
    this.#view = reduceRun(this.#view, event)
    this.streams = this.#view.streams
    if (event.type === 'log:write') this.logs = [...this.logs, event].slice(-LOGS_MAX)
    if (event.sequence > this.#run.lastEventSequence) {
      const isStep = event.type === 'step:complete'
      const isMove = event.type.startsWith('run:')
      if (isStep) this.#newSteps.push(event.sequence)
      if (isStep || isMove) this.#show()
      // What the event does not tell: times, counts, the phase.
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

  /** One at a time. What it cannot read now is read when the log has ended. */
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
    this.#change({ run, status: run.status, isAtEnd: this.state.isAtEnd && hasEnded(run.status), error: this.#trouble ?? failureOf(run) })
  }

  #meet(connection: Connection, trouble: unknown): void {
    const before = this.#trouble
    this.#trouble = trouble === null ? null : asError(trouble)
    this.#change({ connection })
    if (this.#trouble !== before) this.#change({ error: this.#trouble ?? failureOf(this.state.run) })
    // The log that was followed is not there: another database, or an older copy of it.
    if (hasCode(trouble, 'cursor_ahead')) {
      this.#run = null
      this.#forgetLog()
    }
  }

  #forget(): void {
    if (this.state.status === 'gone') return
    this.#run = null
    this.#forgetLog()
    this.#trouble = gone(this.#deps.runId, this.#wasThere)
    this.#change({ run: null, status: 'gone', isAtEnd: true, connection: 'idle', error: this.#trouble })
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
