// EventStream — one response of Server-Sent Events, from its opening to its end.
//   E1. The reader pulls: the next text is read only after the reader has taken the last one, so a slow reader costs no more than a page.
//   E2. While there are no events a comment is sent every 15 s, so that proxies and readers know that the connection is alive.
//   E3. However the stream ends (its source, its reader, the server or an error), everything is released, once.
import { type Env, within } from '../model/env.ts'
import { Waiter } from '../model/waiter.ts'
import { COMMON_HEADERS, wire } from './json-response.ts'

const COMMENT_MS = 15_000
/** The reconnection time for readers. It is sent first, so that a reader sees at once that the stream is open. */
const OPENING = 'retry: 1000\n\n'
const COMMENT = ': \n\n'

const HEADERS = {
  'Content-Type': 'text/event-stream',
  ...COMMON_HEADERS,
  // Proxies that buffer or compress delay events.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

/** The text of a stream, piece by piece. */
export interface FrameSource {
  /** One or more frames; `null` at the end. */
  next(signal: AbortSignal): Promise<string | null>
  /** `next` will not be called again. */
  close(): void
}

export interface EventStreamDeps {
  env: Env
  source: FrameSource
  /** The signal of the request: it aborts when the caller has disconnected. */
  signal: AbortSignal
  report: (error: unknown) => void
  onClose: () => void
}

export interface Frame {
  /** Default `message`. */
  event?: string
  id?: number
}

export function frame(data: unknown, { event, id }: Frame = {}): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  const place = id === undefined ? '' : `id: ${id}\n`
  // JSON escapes line breaks, so the data is one line.
  return `${name}${place}data: ${wire.encode(data, 'an event')}\n\n`
}

export class EventStream {
  readonly #deps: EventStreamDeps
  readonly #closed = new AbortController()
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** Text to send before the source is asked again. */
  #next = OPENING
  /** `source.next` is pending. */
  #isAsked = false
  #hasEnded = false
  readonly #waiter = new Waiter()

  constructor(deps: EventStreamDeps) {
    this.#deps = deps
  }

  response(): Response {
    const { signal } = this.#deps
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          if (signal.aborted) this.end()
          else signal.addEventListener('abort', this.#leave)
        },
        pull: () => this.#pull(),
        cancel: () => this.#release(),
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: HEADERS })
  }

  /** Sends a text that does not come from the source. */
  push(text: string): void {
    this.#next += text
    this.#waiter.wake()
  }

  /** Closes the stream and drops what the source still has. `lastFrame` is sent even to a slow reader. */
  end(lastFrame = ''): void {
    if (this.#closed.signal.aborted) return
    if (lastFrame) this.#controller?.enqueue(this.#encoder.encode(lastFrame))
    this.#controller?.close()
    this.#release()
  }

  readonly #leave = () => this.end()

  async #pull(): Promise<void> {
    if (this.#next === '' && !this.#hasEnded) {
      if (!this.#isAsked) this.#ask()
      await within(this.#deps.env, COMMENT_MS, this.#waiter.wait())
    }
    if (this.#closed.signal.aborted) return
    const text = this.#next
    this.#next = ''
    if (text === '' && this.#hasEnded) this.end()
    else this.#controller?.enqueue(this.#encoder.encode(text === '' ? COMMENT : text))
  }

  #ask(): void {
    this.#isAsked = true
    this.#deps.source.next(this.#closed.signal).then(
      (text) => {
        this.#isAsked = false
        this.#hasEnded = text === null
        this.push(text ?? '')
      },
      (error) => {
        // The stream breaks off without `done`, so the reader reconnects and continues from its cursor.
        if (this.#closed.signal.aborted) return
        this.end()
        this.#deps.report(error)
      },
    )
  }

  #release(): void {
    if (this.#closed.signal.aborted) return
    const { signal, source, onClose } = this.#deps
    this.#closed.abort()
    this.#waiter.wake()
    signal.removeEventListener('abort', this.#leave)
    source.close()
    onClose()
  }
}
