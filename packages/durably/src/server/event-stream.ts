// EventStream — Server-Sent Events: how they are written, and the life of one stream of them.
//   E1. The reader pulls: nothing is fetched before it has taken what was given, so a slow one holds no more than a page.
//   E2. While nothing happens a comment is sent now and then, so that proxies and readers know that the connection lives.
//   E3. However it ends, by its source, its reader, the server or an error: everything is released, once.
import { type Env, within } from '../model/env.ts'
import { Waiter } from '../model/waiter.ts'
import { COMMON_HEADERS, wire } from './json-response.ts'

const COMMENT_MS = 15_000
/** How long a reader waits before it connects again; first thing, so that a stream is seen to be open at once. */
const OPENING = 'retry: 1000\n\n'
const COMMENT = ': \n\n'

const HEADERS = {
  'Content-Type': 'text/event-stream',
  ...COMMON_HEADERS,
  // Who gathers what it passes on, to pack it or not, would hold events back.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

/** What is told, in the order it is told. */
export interface FrameSource {
  /** One or more frames; `null` when that was all. */
  next(signal: AbortSignal): Promise<string | null>
  /** Nobody will ask for more. */
  close(): void
}

export interface EventStreamDeps {
  env: Env
  source: FrameSource
  /** Of the request: aborted when whoever asked has gone. */
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
  // JSON has its line breaks escaped, so it is one line.
  return `${name}${place}data: ${wire.encode(data, 'an event')}\n\n`
}

export class EventStream {
  readonly #deps: EventStreamDeps
  readonly #closed = new AbortController()
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** What is to be sent before the source is asked again. */
  #next = OPENING
  /** The source was asked and has not answered. */
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

  /** Says something of its own accord. */
  push(text: string): void {
    this.#next += text
    this.#waiter.wake()
  }

  /** Closes it, whatever is still to come; the last words are sent also to a reader that is slow. */
  end(lastWords = ''): void {
    if (this.#closed.signal.aborted) return
    if (lastWords) this.#controller?.enqueue(this.#encoder.encode(lastWords))
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
        // Not `done`: the reader comes again, and goes on where it was.
        if (!this.#closed.signal.aborted) this.#deps.report(error)
        this.end()
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
