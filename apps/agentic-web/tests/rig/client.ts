// A client of the API: requests, and event streams that are cut off and continued.
import type { AgentEvent } from '../../dist/wire/event.js'
import type { AcceptedRun, RunView } from '../../dist/wire/run.js'
import type { SessionView } from '../../dist/wire/session.js'
import { apply, emptyTranscript, type Transcript } from './transcript.ts'

export interface Answer<T> {
  status: number
  headers: Headers
  body: T
}

export interface FollowOptions {
  /** The connection is closed after so many events, and another one continues. */
  cutAfter?: number
  onEvent?: (event: AgentEvent) => void
}

export class Client {
  readonly #urls: readonly string[]
  #headers: Record<string, string> = {}
  #turn = 0

  /** Requests go to the servers in turn. */
  constructor(...urls: readonly string[]) {
    this.#urls = urls
  }

  /** The same servers, with these headers in every request: a cookie, the address of the page. */
  with(headers: Record<string, string>): Client {
    const client = new Client(...this.#urls)
    client.#headers = { ...this.#headers, ...headers }
    return client
  }

  async request<T>(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer<T>> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await this.fetch(path, { method, headers, ...(body !== undefined && { body: text }) })
    const answer = await response.text()
    return { status: response.status, headers: response.headers, body: (answer === '' ? null : JSON.parse(answer)) as T }
  }

  async fetch(path: string, { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    return fetch(`${this.#next()}/api${path}`, { redirect: 'manual', ...init, headers: { ...this.#headers, ...headers } })
  }

  async newSession(): Promise<string> {
    return (await this.request<SessionView>('POST', '/sessions')).body.session_id
  }

  async send(sessionId: string, message: string): Promise<string> {
    const { status, body } = await this.request<AcceptedRun>('POST', '/runs', { body: { session_id: sessionId, message } })
    if (status !== 201) throw new Error(`the message was answered with ${status}: ${JSON.stringify(body)}`)
    return body.run_id
  }

  async run(runId: string): Promise<RunView> {
    return (await this.request<RunView>('GET', `/runs/${runId}`)).body
  }

  async session(sessionId: string): Promise<SessionView> {
    return (await this.request<SessionView>('GET', `/sessions/${sessionId}`)).body
  }

  /** Follows a run to its end, as a page does: after any break it connects again with the last id. */
  async follow(runId: string, { cutAfter = Number.POSITIVE_INFINITY, onEvent = () => {} }: FollowOptions = {}): Promise<Transcript> {
    const transcript = emptyTranscript()
    let last = '0'
    while (transcript.done === null) {
      const stop = new AbortController()
      let events = 0
      try {
        const response = await this.fetch(`/runs/${runId}/events`, { headers: { 'Last-Event-ID': last }, signal: stop.signal })
        if (response.status === 204) throw new Error(`all of ${runId} was seen up to ${last}, without done`)
        for await (const { id, event } of messagesOf(response)) {
          if (id !== undefined) last = id
          apply(transcript, event)
          onEvent(event)
          events += 1
          if (events >= cutAfter) break
        }
      } catch (error) {
        if (error instanceof Error && error.message.startsWith('all of')) throw error
        // A server that is gone for a moment.
        await new Promise((resolve) => setTimeout(resolve, 100))
      } finally {
        stop.abort()
      }
    }
    return transcript
  }

  #next(): string {
    return this.#urls[this.#turn++ % this.#urls.length] ?? ''
  }
}

async function* messagesOf(response: Response): AsyncGenerator<{ id: string | undefined; event: AgentEvent }> {
  if (!response.ok || !response.body) throw new Error(`the stream was answered with ${response.status}`)
  let text = ''
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const message = text.slice(0, end)
      text = text.slice(end + 2)
      const type = field(message, 'event')
      if (type !== undefined)
        yield { id: field(message, 'id'), event: { type, ...JSON.parse(field(message, 'data') ?? '{}') } as AgentEvent }
    }
  }
}

function field(message: string, name: string): string | undefined {
  const line = message.split('\n').find((line) => line.startsWith(`${name}: `))
  return line?.slice(name.length + 2)
}
