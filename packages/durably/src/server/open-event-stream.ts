// Opens a stream for a caller: counted for its principal, asked again whether it is allowed, released when the caller goes.
import type { Call } from './call.ts'
import { EventStream, type FrameSource, frame } from './event-stream.ts'
import { principalOf } from './principal.ts'

export const DENIED = frame({}, { event: 'denied' })

/** `recheck` asks whether the stream may go on and ends it if not; an error ends it as well, without a word. */
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
