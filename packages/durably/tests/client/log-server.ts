// A server that has only logs and tells them as the wire format says; the test decides what happens and when.

import { jsonCodec } from '../../src/model/codec.ts'
import type { RunLogEvent } from '../../src/model/event.ts'
import type { Fetch } from './faulty-fetch.ts'

const codec = jsonCodec()

interface Log {
  events: RunLogEvent[]
  end: string | null
}

export class LogServer {
  readonly #logs = new Map<string, Log>()
  readonly #wakes = new Set<() => void>()
  #comments = 0
  /** Put before everything that is told. */
  preface = 'retry: 1000\n\n'
  lineEnd = '\n'
  /** Tells this many events again that the client has already seen. */
  repeats = 0
  /** How many events were handed out. */
  told = 0

  /** Adds texts to a run's log, as progress messages. */
  tell(runId: string, ...texts: string[]): void {
    const { events } = this.#log(runId)
    for (const message of texts) {
      const sequence = events.length + 1
      events.push({ type: 'run:progress', runId, jobName: 'job', sequence, timestamp: '', progress: { current: sequence, message } })
    }
    this.#wake()
  }

  end(runId: string, status = 'completed'): void {
    this.#log(runId).end = status
    this.#wake()
  }

  delete(runId: string): void {
    this.#logs.delete(runId)
    this.#wake()
  }

  /** Says on every open line that it is there. */
  comment(): void {
    this.#comments++
    this.#wake()
  }

  log(runId: string): RunLogEvent[] {
    return this.#log(runId).events
  }

  readonly fetch: Fetch = async (url, { signal }) => {
    const { pathname, searchParams } = new URL(url)
    const [, runId] = /^\/runs\/([^/]+)\/events$/.exec(pathname) ?? []
    if (runId !== undefined) return this.#one(decodeURIComponent(runId), searchParams.get('after'), signal ?? null)
    const cursors = new Map<string, number>()
    for (const run of searchParams.getAll('run')) {
      const at = run.lastIndexOf(':')
      cursors.set(run.slice(0, at), Number(run.slice(at + 1)))
    }
    if (cursors.size > 100) return refusal(400, 'invalid_argument', 'too many')
    for (const [runId, after] of cursors)
      if (after > (this.#logs.get(runId)?.events.length ?? after)) return refusal(409, 'cursor_ahead', runId)
    return this.#stream(cursors, false, signal ?? null)
  }

  #one(runId: string, after: string | null, signal: AbortSignal | null): Response {
    const log = this.#logs.get(runId)
    if (!log) return after === null ? refusal(404, 'run_not_found', runId) : refusal(410, 'run_deleted', runId)
    const cursor = Number(after ?? 0)
    if (cursor > log.events.length) return refusal(409, 'cursor_ahead', runId)
    if (log.end !== null && cursor === log.events.length) return new Response(null, { status: 204 })
    return this.#stream(new Map([[runId, cursor]]), true, signal)
  }

  #stream(cursors: Map<string, number>, isOne: boolean, signal: AbortSignal | null): Response {
    const encoder = new TextEncoder()
    let comments = this.#comments
    const write = (text: string) => encoder.encode(text.replaceAll('\n', this.lineEnd))
    for (const [runId, cursor] of cursors) cursors.set(runId, Math.max(0, cursor - this.repeats))
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          if (this.preface) controller.enqueue(write(this.preface))
          signal?.addEventListener('abort', () => this.#wake())
        },
        pull: async (controller) => {
          for (;;) {
            if (comments < this.#comments) {
              comments = this.#comments
              return controller.enqueue(write(': \n\n'))
            }
            const text = this.#next(cursors, isOne)
            if (text !== null) return controller.enqueue(write(text))
            if (cursors.size === 0) return controller.close()
            await new Promise<void>((resolve) => void this.#wakes.add(resolve))
            if (signal?.aborted) return
          }
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  }

  #next(cursors: Map<string, number>, isOne: boolean): string | null {
    for (const [runId, cursor] of cursors) {
      const log = this.#logs.get(runId)
      const event = log?.events[cursor]
      if (event) {
        cursors.set(runId, cursor + 1)
        this.told++
        return `id: ${event.sequence}\ndata: ${codec.encode(event, 'event')}\n\n`
      }
      const which = isOne ? {} : { runId }
      if (!log || log.end !== null) cursors.delete(runId)
      if (!log) return `event: gone\ndata: ${JSON.stringify(which)}\n\n`
      if (log.end !== null) return `event: done\ndata: ${JSON.stringify({ ...which, status: log.end })}\n\n`
    }
    return null
  }

  #log(runId: string): Log {
    const log = this.#logs.get(runId) ?? { events: [], end: null }
    this.#logs.set(runId, log)
    return log
  }

  #wake(): void {
    for (const wake of this.#wakes) {
      this.#wakes.delete(wake)
      wake()
    }
  }
}

function refusal(status: number, code: string, message: string): Response {
  return new Response(JSON.stringify({ error: { code, message } }), { status, headers: { 'content-type': 'application/json' } })
}
