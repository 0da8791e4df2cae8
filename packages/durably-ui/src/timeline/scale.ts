// Scale — where a moment is on the timeline, from 0 to 1. A run may work for two seconds and sleep for three days, so a time in which nobody
// holds it is shortened, and the axis says so.
import type { Timeline } from './timeline.ts'

export interface Scale {
  /** The last moment that has a place. */
  readonly end: number
  position(at: number): number
  /** Where time was shortened. */
  readonly breaks: readonly { readonly from: number; readonly to: number }[]
}

/** An idle time longer than this part of the time at work is shortened to it. */
const IDLE_SHARE = 0.12
/** Without any time at work, an idle time still has a width. */
const SHORTEST_WORK_MS = 20

interface Piece {
  from: number
  to: number
  width: number
  isShortened: boolean
}

/** `until` is the end of the scale, for a run that goes on or waits; null for the last moment of the timeline. */
export function scaleOf({ span, turns }: Timeline, until: number | null): Scale {
  if (!span) return { position: () => 0, breaks: [], end: until ?? 0 }
  const end = Math.max(span.to, until ?? span.to, span.from + 1)
  const held = turns.map((turn) => ({ from: turn.from, to: turn.to ?? end }))
  const workMs = Math.max(
    SHORTEST_WORK_MS,
    held.reduce((sum, { from, to }) => sum + to - from, 0),
  )
  const pieces = piecesOf(span.from, end, held, workMs * IDLE_SHARE)
  const total = pieces.reduce((sum, { width }) => sum + width, 0)
  return {
    end,
    position: (at) => pieces.reduce((sum, piece) => sum + piece.width * share(piece, at), 0) / total,
    breaks: pieces.filter(({ isShortened }) => isShortened).map(({ from, to }) => ({ from, to })),
  }
}

function piecesOf(start: number, end: number, held: readonly { from: number; to: number }[], idleMax: number): Piece[] {
  const pieces: Piece[] = []
  const idle = (from: number, to: number) => {
    if (to > from) pieces.push({ from, to, width: Math.min(to - from, idleMax), isShortened: to - from > idleMax })
  }
  let at = start
  for (const { from, to } of held) {
    idle(at, from)
    if (to > Math.max(at, from)) pieces.push({ from: Math.max(at, from), to, width: to - Math.max(at, from), isShortened: false })
    at = Math.max(at, to)
  }
  idle(at, end)
  return pieces
}

function share({ from, to }: Piece, at: number): number {
  return Math.min(1, Math.max(0, (at - from) / (to - from)))
}
