// Stream — the output of a step while it comes. Pure: how chunks add up, and what the run's row keeps of an open stream.
//   F1. A chunk says where it begins. What stood there is overwritten, so a chunk that is told twice changes nothing, and
//       one that begins at 0 replaces everything, the checkpoint too: that is what a finished stream becomes.
//   F2. A reset says how much of a superseded attempt stays: what was there at its last checkpoint.
//   F3. A text is as long as its characters (UTF-16), everything else counts 1.
import type { Codec } from './codec.ts'

/** Adds chunks in order; texts side by side become one. */
export function joinChunks(chunks: readonly unknown[], more: readonly unknown[]): unknown[] {
  const joined = [...chunks]
  for (const chunk of more) addChunk(joined, chunk)
  return joined
}

export function addChunk(chunks: unknown[], chunk: unknown): void {
  const last = chunks.at(-1)
  if (typeof chunk === 'string' && typeof last === 'string') chunks[chunks.length - 1] = last + chunk
  else if (chunk !== '') chunks.push(chunk)
}

/** F3. */
export function lengthOf(chunks: readonly unknown[]): number {
  return chunks.reduce<number>((length, chunk) => length + (typeof chunk === 'string' ? chunk.length : 1), 0)
}

/** The first `length` of it (F2). */
export function cutChunks(chunks: readonly unknown[], length: number): unknown[] {
  const kept: unknown[] = []
  let left = length
  for (const chunk of chunks) {
    if (left <= 0) break
    kept.push(typeof chunk === 'string' ? chunk.slice(0, left) : chunk)
    left -= typeof chunk === 'string' ? chunk.length : 1
  }
  return kept
}

/** F1. */
export function writeChunks(chunks: readonly unknown[], from: number, more: readonly unknown[]): unknown[] {
  return joinChunks(cutChunks(chunks, from), more)
}

/** A stream that was begun and not recorded. */
export interface OpenStream {
  stepName: string
  /** How much of it stays when another attempt takes over. */
  kept: number
  /** The checkpoint, encoded; `null` when there was none. */
  state: string | null
}

/** Rows of `[payload of the reset, state]`: a claim copies the first into the event log without knowing what it says. */
export function encodeStreams(streams: Iterable<OpenStream>): string {
  return JSON.stringify(Array.from(streams, ({ stepName, kept, state }) => [JSON.stringify({ stepName, to: kept }), state]))
}

export function decodeStreams(encoded: string | null): OpenStream[] {
  if (encoded === null) return []
  const rows = JSON.parse(encoded) as [string, string | null][]
  return rows.map(([reset, state]) => {
    const { stepName, to } = JSON.parse(reset) as { stepName: string; to: number }
    return { stepName, kept: to, state }
  })
}

export function decodeState(codec: Codec, state: string | null): unknown {
  return state === null ? undefined : codec.decode(state)
}
