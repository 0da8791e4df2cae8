// Colours, on a terminal only. Everything that comes from the database is printable before it is painted.
import type { Phase } from '@coji/durably'
import type { Io } from './io.ts'

/** The codes that terminals have for them. */
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36, gray: 90 }

export type Color = keyof typeof CODES

export function paint(io: Pick<Io, 'hasColors'>, color: Color, text: string): string {
  return io.hasColors ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text
}

const PHASE_COLORS: Record<Phase, Color> = {
  pending: 'blue',
  assigned: 'blue',
  orphaned: 'yellow',
  sleeping: 'gray',
  waiting: 'magenta',
  running: 'cyan',
  cancelling: 'yellow',
  stale: 'yellow',
  confirming: 'yellow',
  completed: 'green',
  failed: 'red',
  cancelled: 'gray',
}

export function phaseColor(phase: Phase): Color {
  return PHASE_COLORS[phase]
}
