// Pulled — a stream that can be iterated. It fetches only what is read, and leaving it releases what it holds.

export type Pulled<T> = ReadableStream<T> & AsyncIterable<T>

/** The signal of `source` aborts when nobody reads any more; when `signal` aborts, reading rejects with its reason. */
export function pulled<T>(source: (closed: AbortSignal) => AsyncGenerator<T, void>, signal?: AbortSignal): Pulled<T> {
  const closed = new AbortController()
  const items = source(closed.signal)
  const close = () => {
    closed.abort()
    items.return().catch(() => {})
  }
  let leave = () => {}
  const stream = new ReadableStream<T>(
    {
      start(controller) {
        if (!signal) return
        const abort = () => {
          close()
          controller.error(signal.reason)
        }
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        leave = () => signal.removeEventListener('abort', abort)
      },
      async pull(controller) {
        try {
          const { done, value } = await items.next()
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
        close()
      },
    },
    { highWaterMark: 0 },
  )
  return iterable(stream)
}

/** Not every browser can iterate a stream. */
function iterable<T>(stream: ReadableStream<T>): Pulled<T> {
  if (typeof Reflect.get(stream, Symbol.asyncIterator) === 'function') return stream as Pulled<T>
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
  }) as Pulled<T>
}
