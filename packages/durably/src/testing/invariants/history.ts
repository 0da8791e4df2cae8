// History — all that is known when a test world has ended: what the database holds, what functions did, what was acknowledged.
// The invariants are pure functions over it, the same for the simulator, the torture test and a user's crash test.
import type { EventRow, EventType, RecordedPayload } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { Store } from '../../store/store.ts'

export interface History {
  runs: RunRow[]
  steps: StepRow[]
  /** By run, then by `seq`. */
  events: EventRow[]
  ledger: Ledger
  acknowledged: Acknowledged[]
  maxRecoveries: number
  /** No fault was injected: executions must equal steps. */
  faultFree: boolean
  /**
   * A process can be stopped between its last check of the lease and a function's first line, or the store's clock can jump and end a
   * lease that its owner rightly believes to have: then the execution that began later may be the one without a lease.
   */
  mayStartLate?: boolean
  /** Runs that were purged, with the place of their purge in the order of all notes; their rows are here all the same. */
  purged?: ReadonlyMap<string, number>
  /** What was planned, where the test knows it: steps by `stepKey`, jobs by name, the labels of runs, as they are stored, by run. */
  plans?: { steps: ReadonlyMap<string, StepPlan>; jobs: ReadonlyMap<string, JobPlan>; labels?: ReadonlyMap<string, string | null> }
}

export interface StepPlan {
  kind: 'work' | 'sleep' | 'wait' | 'child' | 'booking'
  /** How often it may be tried in all; 1 without a policy of its own. */
  triesMax: number
  /** It is part of a `Promise.race`: the job may go on although this step has failed. */
  isLeg?: boolean
  /** The job waits for this child. */
  isInvoked: boolean
  /** Triggers a run in its transaction. */
  enqueues: boolean
  /** How many of the first executions of its transaction take longer than they may. */
  dawdles?: number
  timeoutMs: number | null
}

export interface JobPlan {
  attemptsMax: number
  /** The least time between two attempts. */
  delayMs: number
  timeoutMs: number | null
}

/** What functions really did, recorded outside the database. An optional list is absent where the test does not record it. */
export interface Ledger {
  executions: JobExecution[]
  effects: Effect[]
  streams?: StreamAttempt[]
  claims?: ClaimNote[]
  created?: CreatedNote[]
  waits?: WaitNote[]
  putAway?: PutAwayNote[]
  signals?: SignalNote[]
  answers?: AnswerNote[]
  gaveUp?: GaveUpNote[]
  retryAfters?: RetryAfterNote[]
  bookings?: Booking[]
}

/** A job function that was entered. */
export interface JobExecution {
  runId: string
  generation: number
  startedAt: number
  /** When it settled or its process died; `null` while neither is known. */
  endedAt: number | null
  /** When its signal was aborted. */
  abortedAt?: number
  /** When its time was over: from then on the engine does not wait for it. */
  freeAt?: number
  /** When its signal was aborted for that, and the earliest time at which that was right: its time may count from before it began. */
  timedOutAt?: number
  limitAt?: number
  /** It began, or ended, when its time was over, and its process had not just been frozen. */
  startedLate?: boolean
  endedLate?: boolean
  /** No clock of its process could show that its lease was over when it began. */
  hasMisleadingClocks?: boolean
}

/** A step function that was entered. */
export interface Effect {
  runId: string
  step: string
  generation: number
  startedAt: number
  endedAt: number | null
  outcome: 'returned' | 'threw' | 'unfinished'
  /** Its signal was aborted before it began. */
  wasAborted?: boolean
  /** Its run's signal was aborted while it was executing: it may have left no record. */
  cutShort?: boolean
  /** When its time was over, or the time that it had after its job threw: from then on the engine does not wait for it. */
  freeAt?: number
  startedLate?: boolean
  hasMisleadingClocks?: boolean
  /** It must not run twice. */
  once?: boolean
  /** Its effect took place; only its result could not be stored. */
  tookPlace?: boolean
  place?: number
}

/** A note has a number in the order of all notes, because many things happen at the same time. */
interface Placed {
  place: number
  runId: string
}

/** A run that was claimed, and what its row held then. */
export interface ClaimNote extends Placed {
  generation: number
  /** By the store's clock, and by the time of the world, which does not jump. */
  atMs: number
  worldMs: number
  runAt: number
  waitingFor: string | null
  /** The run, or one above it, was asked to stop before. */
  isCancelled: boolean
}

export interface CreatedNote extends Placed {
  /** Not before this, by the store's clock. */
  dueAt: number
  /** Of the run that triggered it, just before; `null` if none did, or it is not known. */
  parentStatus: RunRow['status'] | 'gone' | null
}

/** A job called `sleep` or `waitFor`. */
export interface WaitNote extends Placed {
  step: string
  generation: number
  /** By the store's clock; `null` for a wait without an end. An owner that knows that clock less exactly may wait until `dueAtMost`. */
  dueAt: number | null
  dueAtMost: number | null
  /** It was due when it was called. */
  isOver: boolean
}

/** An execution that parked its run, and what the run then waits for. */
export interface PutAwayNote extends Placed {
  generation: number
  waitingFor: string
}

/** A signal that the store accepted. */
export interface SignalNote extends Placed {
  name: string
  value: string | null
}

/** A decision about an effect that may have taken place. */
export interface AnswerNote extends Placed {
  step: string
  /** It did not take place, or counts as failed. */
  wasNot: boolean
}

/** The job got an error for a step that has failed for good. */
export interface GaveUpNote extends Placed {
  step: string
  generation: number
  /** `own`: its function failed, and its policy allowed no other try. `final`: the error itself said that another try would not help. */
  why: 'own' | 'final' | 'other'
}

/** A step, or the whole job, threw an error that says when to try again. */
export interface RetryAfterNote extends Placed {
  step: string
  generation: number
  afterMs: number
  /** By the store's clock: the delay does not count from an earlier time. */
  thrownAt: number
}

/** In place of a step's name. */
export const THE_JOB = ''

/** A row that a step wrote in the transaction of its record. */
export interface Booking {
  runId: string
  step: string
}

/** A stream's function that was entered: what it was given, and what it emitted. */
export interface StreamAttempt {
  runId: string
  step: string
  generation: number
  /** The state it was given, encoded; `null` when it began at the beginning. */
  given: string | null
  /** What it emitted itself, in order, written or not (`flat`). */
  text: string
  checkpoints: StreamCheckpoint[]
}

export interface StreamCheckpoint {
  /** Encoded. */
  state: string
  /** How much of the attempt's own text comes before it. */
  length: number
  acknowledged: boolean
}

/** Something that was acknowledged to a client or a listener: it must still hold at the end. */
export type Acknowledged =
  // `askedAt`: when the trigger was sent, in the order of all notes.
  | { kind: 'triggered'; runId: string; jobName: string; idempotencyKey: string | null; askedAt?: number }
  | { kind: 'step'; runId: string; step: string }
  | { kind: 'ended'; runId: string; status: RunRow['status'] }

export interface Violation {
  /** The number of the invariant, as in docs/proof.md. */
  invariant: string
  runId: string | null
  what: string
}

export type Invariant = (history: History) => Violation[]

export interface ParsedEvent {
  seq: number
  type: EventType
  payload: RecordedPayload
}

/** Computes what several invariants need of a history once. Neither the result nor the history may be changed. */
export function perHistory<T>(make: (history: History) => T): (history: History) => T {
  const made = new WeakMap<History, { it: T }>()
  return (history) => {
    const known = made.get(history) ?? { it: make(history) }
    made.set(history, known)
    return known.it
  }
}

export const eventsByRun = perHistory(({ events }): ReadonlyMap<string, readonly ParsedEvent[]> => {
  const byRun = new Map<string, ParsedEvent[]>()
  for (const { runId, seq, type, payload } of events) {
    const event = { seq, type, payload: JSON.parse(payload) as RecordedPayload }
    const known = byRun.get(runId)
    if (known) known.push(event)
    else byRun.set(runId, [event])
  }
  return byRun
})

export const stepsByRun = perHistory(({ steps }): ReadonlyMap<string, readonly StepRow[]> => grouped(steps, ({ runId }) => runId))

/** Those that are completed, by `stepKey`. */
export const recordsByStep = perHistory(
  ({ steps }): ReadonlyMap<string, StepRow> =>
    new Map(steps.filter(({ status }) => status === 'completed').map((step) => [stepKey({ runId: step.runId, step: step.name }), step])),
)

/** By the step that triggered them, where their payloads say so. */
export const runsByTrigger = perHistory(
  ({ runs }): ReadonlyMap<string, readonly RunRow[]> => grouped(runs, (run) => triggeredBy(run) ?? ''),
)

export function stepKey({ runId, step }: { runId: string; step: string }): string {
  return `${runId}/${step}`
}

/** The step that triggered the run, as `stepKey`; the payload names it. */
function triggeredBy({ payload }: RunRow): string | undefined {
  return payload === null ? undefined : (JSON.parse(payload) as { by?: string } | null)?.by
}

/** By run and generation. */
export const claimsByLease = perHistory(
  ({ ledger: { claims = [] } }): ReadonlyMap<string, ClaimNote> =>
    new Map(claims.map((claim) => [`${claim.runId}/${claim.generation}`, claim])),
)

/** By step (or the job) and generation, the errors that said when to try again. */
export function retryAftersByLease({ ledger: { retryAfters = [] } }: History): Map<string, RetryAfterNote> {
  return new Map(retryAfters.map((note) => [`${stepKey(note)}/${note.generation}`, note]))
}

export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** Reads the database's part of the history: all runs, and the steps and events of the wanted ones. */
export async function readRows(
  store: Store,
  isWanted: (run: RunRow) => boolean = () => true,
): Promise<Pick<History, 'runs' | 'steps' | 'events'>> {
  const runs = await store.runs.list({})
  const steps: StepRow[] = []
  const events: EventRow[] = []
  for (const { id } of runs.filter(isWanted)) {
    // Events first: every event must find the row that it refers to, also when another one is written meanwhile.
    events.push(...(await store.events.list(id)))
    steps.push(...(await store.steps.list(id)))
  }
  return { runs, steps, events }
}
