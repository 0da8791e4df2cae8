// A worker's turn with a run, as one sentence.
import type { EndOfTurn } from '../timeline/fact.ts'
import type { Turn } from '../timeline/timeline.ts'
import { durationInWords } from './duration.ts'

const ENDS: { readonly [end in EndOfTurn]: string } = {
  completed: 'and completed it',
  failed: 'and it failed',
  cancelled: 'and it was cancelled',
  waiting: 'until it had to wait',
  'trying again': 'until the attempt failed; it is tried again',
  released: 'and gave it back to stop',
  lost: 'and was lost',
}

/** `place` is 0 for the first turn. */
export function turnInWords(turn: Turn, now: number, place: number): string {
  const { workerId, from, to, end, lastSeen, tookOverFrom, error } = turn
  const name = workerId ?? 'A worker'
  const began = tookOverFrom
    ? `took it over from ${tookOverFrom.workerId ?? 'a lost worker'} and held it`
    : place > 0
      ? 'went on with it'
      : 'held it'
  const held = durationInWords((end === 'lost' ? lastSeen : (to ?? now)) - from)
  if (end === null) return `${name} ${began} for ${held} so far.`
  const silence = end === 'lost' && to !== null ? ` (silent for ${durationInWords(to - lastSeen)})` : ''
  return `${name} ${began} for ${held}, ${ENDS[end]}${silence}${error ? `: ${error.slice(0, 200)}` : ''}.`
}
