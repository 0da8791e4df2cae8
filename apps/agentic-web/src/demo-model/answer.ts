// What the scripted model says in one call: pieces that are sent one after the other.

export type Piece =
  | { say: string }
  | { think: string }
  | { call: string; args: string }
  /** The time in milliseconds when it is sent, as a word. */
  | { clock: true }
  /** Nothing is sent for this long. */
  | { pauseMs: number }
  /** The connection breaks in the middle of a chunk. */
  | { cut: true }

/** Instead of an answer: an error of HTTP. */
export interface Refusal {
  status: number
  headers?: Record<string, string>
  body: string
}

export type Answer = { pieces: Piece[] } | { refusal: Refusal }

export function call(tool: string, args: unknown): Piece {
  return { call: tool, args: JSON.stringify(args) }
}

/** Word by word, so that it can be watched. */
export function say(text: string, pauseMs = 12): Piece[] {
  return (text.match(/\S+\s*|\s+/g) ?? []).flatMap((word) => [{ say: word }, { pauseMs }])
}
