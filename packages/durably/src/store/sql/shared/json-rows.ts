// Rows as one parameter: however many there are, it stays one statement.
import type { NewRun } from '../../runs.ts'

export type JsonRow = readonly (string | number | null)[]

/**
 * A JSON array of arrays, of objects, or of texts. SQLite unescapes its texts to bytes without looking: a lone surrogate would become invalid
 * UTF-8 (which aborts the process when libsql reads it), and drivers cut a text at a NUL.
 */
export function jsonRows(rows: readonly (JsonRow | object | string)[]): string {
  const text = JSON.stringify(rows)
  return HAZARD.test(text) ? JSON.stringify(rows, (_, member) => harmless(member)) : text
}

/** JSON.stringify escapes exactly the two hazards (and control characters) this way. */
const HAZARD = /\\u(?:d[89a-f]|0000)/

function harmless(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD').toWellFormed() : value
}

/** New runs in chunks; their payloads and labels are what makes them large. */
export function chunkedRuns(runs: readonly NewRun[]): NewRun[][] {
  return chunked(runs, ({ payload, labels }) => (payload?.length ?? 0) + (labels?.length ?? 0))
}

const CHUNK_ROWS = 1000
const CHUNK_CHARS = 4 * 1024 * 1024

/** A statement's parameter stays far below every driver's limit; a single huge row still goes alone. */
export function chunked<T>(items: readonly T[], charsOf: (item: T) => number): T[][] {
  const chunks: T[][] = []
  let chunk: T[] = []
  let chars = 0
  for (const item of items) {
    const more = charsOf(item)
    if (chunk.length > 0 && (chunk.length === CHUNK_ROWS || chars + more > CHUNK_CHARS)) {
      chunks.push(chunk)
      chunk = []
      chars = 0
    }
    chunk.push(item)
    chars += more
  }
  if (chunk.length > 0) chunks.push(chunk)
  return chunks
}
