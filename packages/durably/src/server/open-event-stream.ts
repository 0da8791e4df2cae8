// Opens an event stream for a caller. It counts for the principal, is authorized again from time to time, and is released when the caller
// disconnects.
import type { Call } from './call.ts'
import { EventStream, type FrameSource, frame } from './event-stream.ts'
import { principalOf } from './principal.ts'

export const DENIED = frame({}, { event: 'denied' })

/** `recheck` authorizes the stream again, and ends it if it is no longer allowed. An error ends it as well, without a last frame. */
export async function openEventStream(
  { server, request }: Call,
  source: FrameSource,
  recheck: (stream: EventStream) => Promise<void>,
): Promise<Response> {
  const { config, engine, connections } = server
  const principal = (await principalOf({ server, request })) ?? ''
  const report = (error: unknown) => config.onError(error, request)
  const stream = new EventStream({ env: engine.env, source, signal: request.signal, report, onClose: () => leave() })
  const leave = connections.open(principal, {
    end: () => stream.end(),
    async recheck() {
      try {
        await recheck(stream)
      } catch (error) {
        report(error)
        stream.end()
      }
    },
  })
  return stream.response()
}
