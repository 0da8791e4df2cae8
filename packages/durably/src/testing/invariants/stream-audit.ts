// StreamAudit — reads the event logs as a subscriber does, and compares each text that it sees with what attempts really emitted.
//   I21. After a chunk the text is what the attempt that wrote it had at some time; after a reset it is what stood at the last
//        checkpoint: nothing twice, nothing left out. Once a run was taken over, nothing more of the superseded attempt is seen.
//   I4.  Only chunks and resets of recorded streams are removed from a log, nothing else.
import { emptyRunView, type RunView, reduceRun } from '../../client/run-view.ts'
import { isStreamEvent } from '../../model/chunks.ts'
import type { EventRow, RecordedPayload } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import { fullEventOf } from './full-event-of.ts'
import { grouped, type History, perHistory, type StreamAttempt, stepKey, type Violation } from './history.ts'
import { flat, StreamTexts } from './stream-texts.ts'

interface Seen {
  /** Of the streams only. */
  view: RunView
  sequence: number
  owner: number
  /** The numbers of events that must not be removed. */
  lasting: number[]
}

type Rows = { runs: readonly RunRow[]; steps: readonly StepRow[]; events: readonly EventRow[] }

export class StreamAudit {
  readonly #attempts: readonly StreamAttempt[]
  /** The attempts by stream, up to number `#sorted`. */
  readonly #ofStream = new Map<string, StreamAttempt[]>()
  #sorted = 0
  /** Valid for one look: attempts go on between two. */
  readonly #texts = new Map<string, StreamTexts>()
  readonly #seen = new Map<string, Seen>()
  readonly violations: Violation[] = []

  /** The attempts may grow between two looks. */
  constructor(attempts: readonly StreamAttempt[]) {
    this.#attempts = attempts
  }

  /** How far a run's log was read. */
  sequenceOf(runId: string): number {
    return this.#of(runId).sequence
  }

  /** Rows that were given before may be left out. */
  look({ runs, steps, events }: Rows): void {
    this.#sortAttempts()
    const eventsOf = grouped(events, ({ runId }) => runId)
    const stepsOf = grouped(steps, ({ runId }) => runId)
    for (const run of runs) {
      const logged = eventsOf.get(run.id)
      if (logged) this.#lookAtRun(run, stepsOf.get(run.id) ?? [], logged)
    }
  }

  /** A subscriber that followed from the start and one that reads the log at the end must see the same. */
  compare(history: History): void {
    const { runs, events } = history
    const late = readLate(history)
    const eventsOf = grouped(events, ({ runId }) => runId)
    for (const { id } of runs) {
      const followed = this.#of(id)
      if (!seeTheSame(followed.view, late.#of(id).view))
        this.#broken('I21', id, 'a subscriber that followed its streams sees something else than one that reads the log at the end')
      const there = new Set(eventsOf.get(id)?.map(({ seq }) => seq))
      const gone = followed.lasting.filter((seq) => !there.has(seq))
      if (gone.length > 0) this.#broken('I4', id, `events ${gone} were there and are gone`)
    }
  }

  #lookAtRun(run: RunRow, steps: readonly StepRow[], events: readonly EventRow[]): void {
    const seen = this.#of(run.id)
    const fresh = events.filter(({ seq }) => seq > seen.sequence)
    for (const event of fresh) {
      seen.sequence = event.seq
      if (event.type === 'run:start') seen.owner = payloadOf(event).generation ?? 0
      if (!isStreamEvent(event.type)) seen.lasting.push(event.seq)
      // A step that ends changes a view only where it was a stream.
      const isSeen = isStreamEvent(event.type) || (event.type === 'step:complete' && seen.view.streams !== emptyRunView.streams)
      if (!isSeen) continue
      const payload = payloadOf(event)
      const full = fullEventOf(run, steps, event, payload)
      if (full) seen.view = reduceRun(seen.view, full)
      if (isStreamEvent(event.type)) this.#judgeEvent(run.id, seen, event, payload)
    }
    if (fresh.length > 0) this.#judgeOpen(run.id, seen)
  }

  #judgeEvent(runId: string, { view, owner }: Seen, { seq, type }: EventRow, { stepName = '', generation }: RecordedPayload): void {
    const texts = this.#textsOf(runId, stepName)
    const text = flat(view.streams[stepName]?.chunks ?? [])
    const isReal = type === 'stream:reset' ? texts.mayBeKept(owner, text) : texts.of(generation ?? 0)?.startsWith(text)
    if (!isReal)
      this.#broken('I21', runId, `seq ${seq}: after ${type} the text of ${stepName} is ${JSON.stringify(text)}, which nobody had`)
  }

  /** Between two transactions a subscriber sees only what the present owner has emitted, or took over. */
  #judgeOpen(runId: string, { view, owner, sequence }: Seen): void {
    for (const [stepName, { chunks, isDone }] of Object.entries(view.streams)) {
      const texts = this.#textsOf(runId, stepName)
      const text = flat(chunks)
      if (isDone || texts.of(owner)?.startsWith(text) || texts.mayBeKept(owner, text)) continue
      this.#broken('I21', runId, `seq ${sequence}: the text of ${stepName} is ${JSON.stringify(text)}, not that of owner ${owner}`)
    }
  }

  #sortAttempts(): void {
    this.#texts.clear()
    for (; this.#sorted < this.#attempts.length; this.#sorted++) {
      const attempt = this.#attempts[this.#sorted]
      if (!attempt) continue
      const known = this.#ofStream.get(stepKey(attempt))
      if (known) known.push(attempt)
      else this.#ofStream.set(stepKey(attempt), [attempt])
    }
  }

  #textsOf(runId: string, step: string): StreamTexts {
    const key = stepKey({ runId, step })
    const texts = this.#texts.get(key) ?? new StreamTexts(this.#ofStream.get(key) ?? [])
    this.#texts.set(key, texts)
    return texts
  }

  #of(runId: string): Seen {
    const known = this.#seen.get(runId)
    if (known) return known
    const seen = { view: emptyRunView, sequence: 0, owner: 0, lasting: [] }
    this.#seen.set(runId, seen)
    return seen
  }

  #broken(invariant: string, runId: string, what: string): void {
    this.violations.push({ invariant, runId, what })
  }
}

/** A subscriber that reads the logs after everything has ended. */
export const readLate = perHistory((history): StreamAudit => {
  const late = new StreamAudit(history.ledger.streams ?? [])
  late.look(history)
  return late
})

function payloadOf({ payload }: EventRow): RecordedPayload {
  return JSON.parse(payload)
}

/** Most runs have no streams, and then both have the same empty object. */
function seeTheSame(one: RunView, other: RunView): boolean {
  return one.streams === other.streams || inOrder(one) === inOrder(other)
}

/** Sorted by name: where the start of a stream was removed from the log, another stream may come first. */
function inOrder({ streams }: RunView): string {
  return JSON.stringify(Object.entries(streams).sort(([a], [b]) => (a < b ? -1 : 1)))
}
