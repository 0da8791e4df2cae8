// Invariants of streams: the event log against what their functions emitted.

import { emptyRunView, type RunView, reduceRun } from '../../client/run-view.ts'
import { isStreamEvent } from '../../model/chunks.ts'
import { jsonCodec } from '../../model/codec.ts'
import type { RunLogEvent } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import { decodeStreams } from '../../model/stream.ts'
import { fullEventOf } from './full-event-of.ts'
import { eventsByRun, grouped, type Invariant, stepKey, stepsByRun, type Violation } from './history.ts'
import { readLate } from './stream-audit.ts'
import { flat, streamTexts } from './stream-texts.ts'

/** I20: a recorded stream has one chunk, with exactly what the attempt that recorded it had, and no reset. */
export const recordedStreamsAreWhole: Invariant = (history) => {
  const texts = streamTexts(history)
  const rows = eventsByRun(history)
  const open = new Set(history.runs.flatMap((run) => decodeStreams(run.streams).map(({ stepName }) => `${run.id}/${stepName}`)))
  const violations: Violation[] = []
  for (const { runId, name, status, leaseGeneration } of history.steps) {
    const stream = stepKey({ runId, step: name })
    const expected = status === 'completed' ? texts.get(stream)?.of(leaseGeneration) : undefined
    if (expected === undefined) continue
    const broken = (what: string) => violations.push({ invariant: 'I20', runId, what: `stream ${JSON.stringify(name)} ${what}` })
    const logged = (rows.get(runId) ?? []).filter(({ type, payload }) => isStreamEvent(type) && payload.stepName === name)
    const resets = logged.filter(({ type }) => type === 'stream:reset').length
    if (resets > 0) broken(`is recorded, and ${resets} resets are left`)
    if (logged.length - resets > 1 || (logged.length === 0 && expected !== ''))
      broken(`is recorded, and has ${logged.length - resets} chunks`)
    if (open.has(stream)) broken('is recorded, and the run still calls it open')
    const text = flat(logged.flatMap(({ payload }) => codec.decode(payload.chunks ?? null) as unknown[]))
    if (logged.length === 1 && text !== expected)
      broken(`says ${JSON.stringify(text)}, its attempt ${leaseGeneration} had ${JSON.stringify(expected)}`)
  }
  return violations
}

/** I21: at every place in the log each text is one that some attempt really had. */
export const textsAreReal: Invariant = (history) => (history.ledger.streams ? readLate(history).violations : [])

/** I21: a subscriber that was disconnected anywhere, and gets some events a second time, ends with the same view. */
export const cutsMakeNoDifference: Invariant = (history) => {
  const rowsOf = grouped(history.events, ({ runId }) => runId)
  return history.runs.flatMap((run) => {
    const rows = rowsOf.get(run.id) ?? []
    if (!rows.some(({ type }) => isStreamEvent(type))) return []
    const payloads = eventsByRun(history).get(run.id) ?? []
    const steps = stepsByRun(history).get(run.id) ?? []
    const events = rows.flatMap((row, i) => fullEventOf(run, steps, row, payloads[i]?.payload ?? {}) ?? [])
    const whole = JSON.stringify(reduced(events))
    const cut = cutOf(run, events.length)
    const again = events.slice(Math.floor(cut / 2))
    const same = whole === JSON.stringify(reduced([...events.slice(0, cut), ...again]))
    return same ? [] : [{ invariant: 'I21', runId: run.id, what: `cut at ${cut} of ${events.length} events, the view is another one` }]
  })
}

/** I22: a checkpoint that was acknowledged is not lost: the next attempt goes on from it or from a later one. */
export const checkpointsHold: Invariant = (history) => {
  const violations: Violation[] = []
  for (const texts of streamTexts(history).values()) {
    for (const { attempt, from } of texts.attempts) {
      const { runId, step, generation, given } = attempt
      const broken = (what: string) =>
        violations.push({ invariant: 'I22', runId, what: `stream ${JSON.stringify(step)}, attempt ${generation}: ${what}` })
      if (from === undefined) broken(`was given the state ${given}, which nobody had recorded`)
      else if ((from?.place ?? 0) < texts.promisedBefore(generation))
        broken(`was given the state ${given}, but a later checkpoint was acknowledged`)
    }
  }
  return violations
}

const codec = jsonCodec()

function reduced(events: readonly RunLogEvent[]): RunView {
  return events.reduce(reduceRun, emptyRunView)
}

/** An arbitrary place, the same for the same run. */
function cutOf({ id }: RunRow, events: number): number {
  const hash = Array.from(id).reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0, 0)
  return hash % (events + 1)
}
