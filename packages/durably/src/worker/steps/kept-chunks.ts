import { cutChunks, isStreamEvent, writeChunks } from '../../model/chunks.ts'
import type { Codec } from '../../model/codec.ts'
import type { EventRow, RecordedPayload } from '../../model/event.ts'
import type { OpenStream } from '../../model/stream.ts'
import type { Store } from '../../store/store.ts'

const PAGE_MAX = 500

/** The output of earlier attempts up to the last checkpoint of a stream, read from the event log. */
export async function keptChunks(store: Store, codec: Codec, runId: string, { stepName, kept }: OpenStream): Promise<unknown[]> {
  let chunks: unknown[] = []
  if (kept === 0 || !store.eventLog) return chunks
  for (let after = 0; ; ) {
    const page = await store.events.list(runId, { after, limit: PAGE_MAX })
    for (const row of page) chunks = withEvent(chunks, row, stepName, codec)
    after = page.at(-1)?.seq ?? after
    if (page.length < PAGE_MAX) return cutChunks(chunks, kept)
  }
}

function withEvent(chunks: unknown[], { type, payload }: EventRow, stepName: string, codec: Codec): unknown[] {
  if (!isStreamEvent(type)) return chunks
  const recorded = JSON.parse(payload) as RecordedPayload
  if (recorded.stepName !== stepName) return chunks
  if (type === 'stream:reset') return cutChunks(chunks, recorded.to ?? 0)
  return writeChunks(chunks, recorded.from ?? 0, codec.decode(recorded.chunks ?? null) as unknown[])
}
