// Opens an event stream for a caller. It counts for the principal, is authorized again from time to time, and is released when the caller
// disconnects.
import type { Engine } from '../engine.ts'
import type { Call } from './call.ts'
import { EventStream, type FrameSource, frame } from './event-stream.ts'
import { principalOf } from './principal.ts'
import type { SseConnections } from './sse-connections.ts'

export const DENIED = frame({}, { event: 'denied' })

/** What all streams of a server share. */
export interface StreamServer {
  engine: Engine
  connections: SseConnections
  onError: (error: unknown, request: Request) => void
}

/** Authorizes the stream again, and ends it if it is no longer allowed. An error ends it as well, without a last frame. */
export type Recheck = (stream: EventStream) => Promise<void>

export async function openEventStream({ server, request }: Call, source: FrameSource, recheck: Recheck): Promise<Response> {
  const { engine, connections, config } = server
  const principal = (await principalOf({ server, request })) ?? ''
  return openStream({ engine, connections, onError: config.onError }, request, { principal, source, recheck })
}

export interface NewStream {
  principal: string
  source: FrameSource
  recheck: Recheck
}

export function openStream({ engine, connections, onError }: StreamServer, request: Request, opened: NewStream): Response {
  const { principal, source, recheck } = opened
  const report = (error: unknown) => onError(error, request)
  const stream = new EventStream({ env: engine.env, source, signal: request.signal, report, onClose: () => leave() })
  const leave = connections.open(principal, {
    end: () => stream.end(),
    async recheck() {
      try {
        await recheck(stream)
      } catch (error) {
        stream.end()
        report(error)
      }
    },
  })
  return stream.response()
}
