// History — all that is known after a run of the harness: what the database holds, what functions did, what was acknowledged.
// The invariants are pure functions over it, the same for the simulator, the torture and a user's crash test.
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
   * A process can be stopped between its last look at the lease and a function's first line, or the store's clock can jump and
   * end a lease that its owner has every reason to hold: then the one that began later may be the one that lost it.
   */
  mayStartLate?: boolean
}

/** What functions really did, written outside the database. */
export interface Ledger {
  executions: JobExecution[]
  effects: Effect[]
  /** Absent where nobody noted them. */
  streams?: StreamAttempt[]
}

/** A job function that was entered. */
export interface JobExecution {
  runId: string
  generation: number
  startedAt: number
  /** When it settled or its process died; `null` while neither is known. */
  endedAt: number | null
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
  toldToStop?: boolean
}

/** A stream's function that was entered: what it was given, and what it put out. */
export interface StreamAttempt {
  runId: string
  step: string
  generation: number
  /** The state it was given, encoded; `null` when it began at the beginning. */
  given: string | null
  /** What it put out itself, in order, asked for and perhaps not written (`flat`). */
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

/** A promise that somebody was given: it must still hold at the end. */
export type Acknowledged =
  | { kind: 'triggered'; runId: string; jobName: string; idempotencyKey: string | null }
  | { kind: 'step'; runId: string; step: string }
  | { kind: 'ended'; runId: string; status: RunRow['status'] }

export interface Violation {
  /** The number of the invariant, as in docs/proof.md. */
  invariant: string
  runId: string | null
  what: string
}

export type Invariant = (history: History) => Violation[]

export interface ToldEvent {
  seq: number
  type: EventType
  payload: RecordedPayload
}

export function eventsByRun(history: History): Map<string, ToldEvent[]> {
  const byRun = new Map<string, ToldEvent[]>()
  for (const event of history.events) {
    const told = byRun.get(event.runId) ?? []
    told.push({ seq: event.seq, type: event.type, payload: JSON.parse(event.payload) as RecordedPayload })
    byRun.set(event.runId, told)
  }
  return byRun
}

export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** Reads the database's part of the history. */
export async function readRows(store: Store): Promise<Pick<History, 'runs' | 'steps' | 'events'>> {
  const runs = await store.runs.list({})
  const steps: StepRow[] = []
  const events: EventRow[] = []
  for (const { id } of runs) {
    // Every event must find the row that it refers to, also when another one is written meanwhile.
    events.push(...(await store.events.list(id)))
    steps.push(...(await store.steps.list(id)))
  }
  return { runs, steps, events }
}
