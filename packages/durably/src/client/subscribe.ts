// Subscription — the events of a run as a stream that pulls: what nobody reads is not fetched.
import type { RunLogEvent } from '../events/full-event.ts'
import { type TailParts, tail } from '../events/tail.ts'
import { DurablyError } from '../model/errors.ts'

export interface SubscribeOptions {
  /** The `sequence` of the last event that was seen; 0, the default, begins with the first. */
  after?: number
  /** Ends the subscription: what is being read rejects with its reason. */
  signal?: AbortSignal
}

export type Subscription = ReadableStream<RunLogEvent> & AsyncIterable<RunLogEvent>

export function subscribe(parts: TailParts, runId: string, { after = 0, signal }: SubscribeOptions = {}): Subscription {
  if (typeof runId !== 'string') throw new DurablyError('invalid_argument', `subscribe needs the id of a run, got ${String(runId)}`)
  if (!Number.isSafeInteger(after) || after < 0)
    throw new DurablyError('invalid_argument', `after must be the sequence of an event, or 0, got ${after}`)
  if (!parts.store.eventLog) throw new DurablyError('event_log_off', 'there is nothing to subscribe to: eventLog is false')
  const closed = new AbortController()
  const events = tail(parts, runId, after, closed.signal)
  let leave = () => {}
  const stream = new ReadableStream<RunLogEvent>(
    {
      start(controller) {
        if (!signal) return
        const abort = () => {
          closed.abort()
          controller.error(signal.reason)
        }
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        leave = () => signal.removeEventListener('abort', abort)
      },
      async pull(controller) {
        try {
          const { done, value } = await events.next()
          if (closed.signal.aborted) return
          if (!done) return controller.enqueue(value)
          leave()
          controller.close()
        } catch (error) {
          leave()
          if (!closed.signal.aborted) controller.error(error)
        }
      },
      cancel() {
        leave()
        closed.abort()
      },
    },
    { highWaterMark: 0 },
  )
  return iterable(stream)
}

/** Not every browser can iterate a stream. */
function iterable(stream: ReadableStream<RunLogEvent>): Subscription {
  if (typeof Reflect.get(stream, Symbol.asyncIterator) === 'function') return stream as Subscription
  return Object.assign(stream, {
    async *[Symbol.asyncIterator]() {
      const reader = stream.getReader()
      try {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return
          yield value
        }
      } finally {
        await reader.cancel().catch(() => {})
        reader.releaseLock()
      }
    },
  }) as Subscription
}
