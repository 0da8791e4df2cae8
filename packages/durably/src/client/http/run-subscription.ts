// RunSubscription — what one subscriber of a run has not read yet, and where it stands in the log.
//   S1. The cursor only grows: an event that comes twice is taken once.
//   S2. It is bounded: who is full takes nothing more, and says when there is room again.

import { unlessAborted } from '../../model/abort.ts'
import type { DurablyError } from '../../model/errors.ts'
import type { RunLogEvent } from '../../model/event.ts'
import { Waiter } from '../../model/waiter.ts'
import type { ConnectionState, FollowOptions } from '../durably-client.ts'
import { tellChanges } from '../tell-changes.ts'

const EVENTS_MAX = 100
const CHARACTERS_MAX = 1024 * 1024

export class RunSubscription {
  readonly runId: string
  /** The `sequence` of the last event it took. */
  cursor: number
  readonly tell: (state: ConnectionState) => void
  #waiting: { event: RunLogEvent; length: number }[] = []
  #length = 0
  #end: { error: DurablyError | null } | null = null
  readonly #reader = new Waiter()
  readonly #sender = new Waiter()

  constructor(runId: string, after: number, onConnection: FollowOptions['onConnection']) {
    this.runId = runId
    this.cursor = after
    this.tell = tellChanges(onConnection)
  }

  get isFull(): boolean {
    return this.#waiting.length >= EVENTS_MAX || this.#length >= CHARACTERS_MAX
  }

  /** `length` is that of its text. */
  take(event: RunLogEvent, length: number): void {
    if (event.sequence <= this.cursor) return
    this.cursor = event.sequence
    this.#waiting.push({ event, length })
    this.#length += length
    this.#reader.wake()
  }

  /** Nothing comes any more; what waits can still be read. */
  end(error: DurablyError | null = null): void {
    this.#end ??= { error }
    this.#reader.wake()
  }

  /** Resolves when half of what made it full was read. */
  room(): Promise<void> {
    return this.#sender.wait()
  }

  /** Nothing once the log has ended or the signal aborts. */
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
