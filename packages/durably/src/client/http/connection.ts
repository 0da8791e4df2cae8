// connection — one event stream of the server, from the request to its end.
// Silence ends it too, because the server sends a comment every 15 s. Silence is measured only while the consumer reads, so a slow consumer
// does not end the connection.
import type { Codec } from '../../model/codec.ts'
import { type Clock, within } from '../../model/env.ts'
import type { DurablyError } from '../../model/errors.ts'
import type { HttpRequests } from './http-request.ts'
import { SseParser } from './sse-parser.ts'

const SILENCE_MS = 35_000

export interface ConnectionDeps {
  requests: HttpRequests
  env: Clock
  codec: Codec
}

export interface ServerMessage {
  event: string
  value: unknown
  /** The number of characters of its data. */
  length: number
}

export interface Target {
  path: string
  /** The run, if the stream is about one. */
  runId?: string
}

export type Ending =
  /** The server has nothing more to send. */
  | { type: 'over' }
  | { type: 'refused'; error: DurablyError }
  /** Connecting again may help. */
  | { type: 'broken'; hadMessages: boolean; retryMs: number; retryAfterMs: number }

export async function* connection(
  { requests, env, codec }: ConnectionDeps,
  target: Target,
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<ServerMessage, Ending> {
  const broken = { type: 'broken', hadMessages: false, retryMs: 0, retryAfterMs: 0 } as Extract<Ending, { type: 'broken' }>
  const closed = new AbortController()
  const close = () => closed.abort()
  signal.addEventListener('abort', close)
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  try {
    const question = { method: 'GET', headers: { accept: 'text/event-stream' }, ...target } as const
    const answer = await unlessSilent(env, requests.ask(question, closed.signal))
    if (answer.response === null) {
      if (answer.status < 500 && !answer.isPassing) return { type: 'refused', error: answer.error }
      return { ...broken, retryAfterMs: answer.retryAfterMs }
    }
    const { response } = answer
    if (response.status === 204) return { type: 'over' }
    reader = response.body?.getReader()
    if (!reader || !response.headers.get('content-type')?.startsWith('text/event-stream')) return broken
    onOpen()
    const decoder = new TextDecoder()
    const parser = new SseParser()
    for (;;) {
      const { done, value } = await unlessSilent(env, reader.read())
      if (done) return broken
      for (const { event, data } of parser.push(decoder.decode(value, { stream: true }))) {
        const message = { event, value: codec.decode(data), length: data.length }
        broken.hadMessages = true
        yield message
      }
      broken.retryMs = parser.retryMs
    }
  } catch {
    return broken
  } finally {
    signal.removeEventListener('abort', close)
    close()
    reader?.cancel().catch(() => {})
  }
}

async function unlessSilent<T>(env: Clock, answer: Promise<T>): Promise<T> {
  if (await within(env, SILENCE_MS, answer)) return answer
  answer.catch(() => {})
  throw new Error('the connection is silent')
}
