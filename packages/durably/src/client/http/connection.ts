// Connection — one event stream of the server, from asking for it to its end, whatever ends it.
// Silence ends it too: the server writes a comment every 15 s. It is counted only while somebody reads, so a slow reader loses nothing.
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
  /** How many characters it took. */
  length: number
}

export interface Target {
  path: string
  /** The run it is about, where it is one. */
  runId?: string
}

export type Ending =
  /** There is nothing more to come. */
  | { type: 'over' }
  | { type: 'refused'; error: DurablyError }
  /** It may be there the next time. */
  | { type: 'broken'; hadMessages: boolean; retryMs: number | null; retryAfterMs: number }

export async function* connection(
  { requests, env, codec }: ConnectionDeps,
  target: Target,
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<ServerMessage, Ending> {
  const broken = { type: 'broken', hadMessages: false, retryMs: null, retryAfterMs: 0 } as Extract<Ending, { type: 'broken' }>
  const closed = new AbortController()
  const close = () => closed.abort()
  signal.addEventListener('abort', close)
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  try {
    const question = { method: 'GET', headers: { accept: 'text/event-stream' }, ...target } as const
    const answer = await unlessSilent(env, requests.ask(question, closed.signal))
    if (answer.response === null) {
      if (answer.status >= 400 && answer.status < 500 && !answer.isPassing) return { type: 'refused', error: answer.error }
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
  throw new Error(`nothing came for ${SILENCE_MS} ms`)
}
