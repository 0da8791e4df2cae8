// Server-Sent Events of one run: what its log has after the cursor, then live, until `done`.
//   E1. The reader pulls: the next event is read when the last one was taken, so a slow reader costs no more than a page of the log.
//   E2. While nothing happens a comment is sent, so that proxies and the page know that the connection is alive.
//   E3. One entry of the log can become several messages. Only the last has an `id:`, so a page that was cut off between them gets all again.
import type { Durably, RunLogEvent } from '@coji/durably'
import { translate } from './translate.ts'

const KEEP_ALIVE_MS = 15_000

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

export interface EventStreamOptions {
  durably: Durably
  runId: string
  after: number
  /** Aborts when the caller has disconnected, or the server closes. */
  signal: AbortSignal
  onClose: () => void
}

export function eventStream({ durably, runId, after, signal, onClose }: EventStreamOptions): Response {
  const events = durably.subscribe(runId, { after, signal })[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<RunLogEvent, unknown>> | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode('retry: 1000\n\n')),
      async pull(controller) {
        try {
          for (let text = ''; text === ''; ) {
            next ??= events.next()
            const result = await orSilence(next)
            if (result === 'silence') text = ': \n\n'
            else {
              next = undefined
              if (result.done) return end(controller)
              text = messages(result.value)
            }
            if (text !== '') controller.enqueue(encoder.encode(text))
          }
        } catch {
          // Without `done`, so the page connects again and continues from its cursor.
          end(controller)
        }
      },
      async cancel() {
        onClose()
        await events.return?.()
      },
    },
    { highWaterMark: 0 },
  )
  const end = (controller: ReadableStreamDefaultController) => {
    onClose()
    controller.close()
  }
  return new Response(body, { headers: HEADERS })
}

async function orSilence<T>(next: Promise<T>): Promise<T | 'silence'> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<'silence'>((resolve) => {
    timer = setTimeout(() => resolve('silence'), KEEP_ALIVE_MS)
  })
  return Promise.race([next, silence]).finally(() => clearTimeout(timer))
}

/** E3. JSON escapes line breaks, so the data is one line. */
function messages(event: RunLogEvent): string {
  const translated = translate(event)
  return translated
    .map(({ type, ...data }, i) => {
      const id = i === translated.length - 1 ? `id: ${event.sequence}\n` : ''
      return `event: ${type}\n${id}data: ${JSON.stringify(data)}\n\n`
    })
    .join('')
}
