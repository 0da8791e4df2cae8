// RunSubscription — the events that one subscriber of a run has not read yet, and its cursor in the log.
//   S1. The cursor only grows: an event that arrives twice is delivered once.
//   S2. The queue is bounded: when it is full, `room()` resolves once there is room again.
import { unlessAborted } from '../../model/abort.ts'
import type { DurablyError } from '../../model/errors.ts'
import type { RunLogEvent } from '../../model/event.ts'
import { Waiter } from '../../model/waiter.ts'
import { connectionReporter } from '../connection-reporter.ts'
import type { ConnectionState, FollowOptions } from '../durably-client.ts'

const EVENTS_MAX = 100
const CHARACTERS_MAX = 1024 * 1024

export class RunSubscription {
  readonly runId: string
  /** The `sequence` of the last event that was queued. */
  cursor: number
  readonly report: (state: ConnectionState) => void
  #waiting: { event: RunLogEvent; length: number }[] = []
  #length = 0
  #end: { error: DurablyError | null } | null = null
  readonly #reader = new Waiter()
  readonly #sender = new Waiter()

  constructor(runId: string, after: number, onConnection: FollowOptions['onConnection']) {
    this.runId = runId
    this.cursor = after
    this.report = connectionReporter(onConnection)
  }

  get isFull(): boolean {
    return this.#waiting.length >= EVENTS_MAX || this.#length >= CHARACTERS_MAX
  }

  /** `length` is the number of characters of the event's text. */
  take(event: RunLogEvent, length: number): void {
    if (event.sequence <= this.cursor) return
    this.cursor = event.sequence
    this.#waiting.push({ event, length })
    this.#length += length
    this.#reader.wake()
  }

  /** No more events will come; queued ones can still be read. */
  end(error: DurablyError | null = null): void {
    this.#end ??= { error }
    this.#reader.wake()
  }

  /** Resolves when half of a full queue was read. */
  room(): Promise<void> {
    return this.#sender.wait()
  }

  /** The next event; `undefined` once the log has ended or the signal aborts. */
  async next(signal: AbortSignal): Promise<RunLogEvent | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#end?.error) throw this.#end.error
      if (this.#end || signal.aborted) return undefined
      await unlessAborted(signal, this.#reader.wait())
    }
    const first = this.#waiting.shift()
    this.#length -= first?.length ?? 0
    if (this.#waiting.length <= EVENTS_MAX / 2 && this.#length <= CHARACTERS_MAX / 2) this.#sender.wake()
    return first?.event
  }
}
