// Chunks — how the output of a stream adds up. Pure.
//   F1. A chunk says where it begins. What stood there is overwritten, so a chunk that comes twice changes nothing, and
//       one that begins at 0 replaces everything, the checkpoint too: that is what a finished stream becomes.
//   F2. A reset says how much of a superseded attempt stays: what was there at its last checkpoint.
//   F3. A text is as long as its characters (UTF-16), everything else counts 1.
import type { EventType } from './event.ts'

export function isStreamEvent(type: EventType): boolean {
  return type === 'stream:chunk' || type === 'stream:reset'
}

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
