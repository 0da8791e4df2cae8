import type { EventRow, RecordedPayload } from '../../model/event.ts'

/** Which numbers from 1 to `last` are missing or out of order. Chunks may be missing if a later chunk holds its stream from the start. */
export function unexplainedGaps(events: readonly Pick<EventRow, 'seq' | 'type' | 'payload'>[], last: number): number[] {
  const seqs = events.map(({ seq }) => seq)
  const misplaced = seqs.filter((seq, i) => seq > last || seq <= (seqs[i - 1] ?? 0))
  const whole = events.filter(({ type, payload }) => type === 'stream:chunk' && (JSON.parse(payload) as RecordedPayload).from === 0)
  const explained = whole.at(-1)?.seq ?? 0
  const there = new Set(seqs)
  const missing = Array.from({ length: last }, (_, i) => i + 1).filter((seq) => seq > explained && !there.has(seq))
  return [...misplaced, ...missing]
}
