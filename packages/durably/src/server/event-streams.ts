// Event streams for routes of an application's own.
import type { Durably } from '../durably.ts'
import { ENGINE } from '../engine.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { atLeastOne, readOnError } from './options.ts'
import { openRunStream, type RunStreamOptions } from './run-stream.ts'
import { SseConnections } from './sse-connections.ts'
import { findRow } from './visible-run.ts'

/** The options of `eventStreams`. */
export interface EventStreamsOptions {
  /** How many streams one principal may have open. Default 100. */
  maxStreams?: number
  /** Called with errors that end a stream; its reader connects again. What it throws itself is ignored. Default: `console.error`. */
  onError?: (error: unknown, request: Request) => void
}

const OPTIONS: KeysOf<EventStreamsOptions> = { maxStreams: 1, onError: 1 }

/** The open event streams of a server. */
export interface EventStreams {
  /**
   * Answers a request with the log of a run as Server-Sent Events: what it has after `Last-Event-ID` or `?after=`, then what comes, until the run
   * has ended. 204 if there is nothing after the cursor. It rejects with a `DurablyError` whose code says why there is no stream: `invalid_argument`
   * or `cursor_ahead` (the cursor), `run_not_found`, `run_deleted`, `too_many_streams`, `shutdown`, `event_log_off`.
   */
  open(request: Request, runId: string, options: RunStreamOptions): Promise<Response>
  /** Ends all streams and refuses new ones; call it before the process exits. Readers connect again, to another process. */
  close(): void
  /** How many streams are open now. */
  readonly size: number
}

/**
 * Event streams for routes of your own, as `durablyHandler` has them: they continue after a cursor, follow the run live on any instance, send a comment
 * every 15 seconds, hold no more than a page for a slow reader, and are counted and closed. Your route says who may read, and what.
 *
 * @example const streams = eventStreams(durably)
 * app.get('/answers/:id', ({ req }) => streams.open(req.raw, req.param('id'), { messages: (event) => shown(event) }))
 */
export function eventStreams(durably: Durably, options: EventStreamsOptions = {}): EventStreams {
  checkKeys('eventStreams', options, OPTIONS, 'invalid_config')
  const { maxStreams = 100 } = options
  const onError = readOnError(options.onError)
  const engine = durably[ENGINE]
  const { env, pollingMs: intervalMs } = engine
  const connections = new SseConnections({ env, intervalMs, maxPerPrincipal: atLeastOne('maxStreams', maxStreams) })
  return {
    async open(request, runId, options) {
      return openRunStream({ engine, connections, onError }, request, { runId, row: await findRow(engine, runId) }, options)
    },
    close: () => connections.close(),
    get size() {
      return connections.size
    },
  }
}
