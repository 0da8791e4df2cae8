// Segment — a part of a run's history as one file: gzipped lines of JSON, `{"event":…}` and `{"log":…}`.
//   G1. A line of the log is in the segment of the event that refers to it. Lines that no event refers to come after all events.
//   G2. The name has a hash of the content: two processes that see different rows never write the same file.
import type { EventRow } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import { type Part, partText } from './log-ref.ts'

export interface Segment {
  /** By `seq`. */
  events: EventRow[]
  /** By id. */
  lines: LogRow[]
}

export interface PackedSegment {
  /** How the run's row names it. */
  part: string
  bytes: Uint8Array
}

/** `archived`: the last event that is in an earlier segment. */
export async function packSegment({ events, lines }: Segment, archived: number): Promise<PackedSegment> {
  const records = [...events.map((event) => ({ event })), ...lines.map((log) => ({ log }))]
  const content = new TextEncoder().encode(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const first = events[0]?.seq ?? archived + 1
  const last = events.at(-1)?.seq ?? archived
  const part = partText(first, last, hashOf(content), lines)
  return { part, bytes: await through(content, new CompressionStream('gzip')) }
}

/** Null if these are not the bytes of the segment. */
export async function unpackSegment({ hash }: Part, bytes: Uint8Array): Promise<Segment | null> {
  const content = await through(bytes, new DecompressionStream('gzip')).catch(() => null)
  if (!content || hash !== hashOf(content)) return null
  const segment: Segment = { events: [], lines: [] }
  for (const line of new TextDecoder().decode(content).split('\n')) {
    if (line === '') continue
    const { event, log } = JSON.parse(line) as { event?: EventRow; log?: LogRow }
    if (event) segment.events.push(event)
    if (log) segment.lines.push(log)
  }
  return segment
}

/** By hand, because a `Blob` before and a `Response` behind the stream cost more than gzip itself. */
async function through(bytes: Uint8Array, { readable, writable }: ReadableWritablePair<Uint8Array, BufferSource>): Promise<Uint8Array> {
  const writer = writable.getWriter()
  const writing = writer.write(bytes as Uint8Array<ArrayBuffer>).then(() => writer.close())
  const parts: Uint8Array[] = []
  const reader = readable.getReader()
  const reading = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value)
  }
  await Promise.all([reading(), writing])
  return joined(parts)
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** 53 bits (cyrb53). It tells contents of the same run and range apart that differ by chance. */
function hashOf(content: Uint8Array): string {
  let one = 0xdeadbeef
  let two = 0x41c6ce57
  for (const byte of content) {
    one = Math.imul(one ^ byte, 2654435761)
    two = Math.imul(two ^ byte, 1597334677)
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909)
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
  return (4294967296 * (2097151 & two) + (one >>> 0)).toString(36)
}
