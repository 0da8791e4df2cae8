// The verdict of an outsider: what the public reads and the rows say, against what was written down outside. It knows no lease.
//   V1. An execution is a call of a job's function. What it begins although the record was acknowledged before that call is begun
//       under a later lease.
//   V2. A process that stood still before the first line of a function may have been replaced meanwhile; that is no broken promise.
//   V3. Where processes go by clocks of their own and those are wrong, a lease can be taken from a worker that has every reason to hold it;
//       so what is begun again counts only some time later.
import { emptyRunView, type RunView, reduceRun } from '../../../../packages/durably/dist/client/run-view.js'
import { createDurably } from '../../../../packages/durably/dist/durably.js'
import { grouped } from '../../../../packages/durably/dist/testing/invariants/history.js'
import {
  checkInvariants,
  type History,
  readRows,
  type StepPlan,
  stepKey,
  type Violation,
} from '../../../../packages/durably/dist/testing/invariants/index.js'
import { isStruck } from '../faults.ts'
import { type LedgerReading, type Noted, readLedger, sharedClock } from '../ledger.ts'
import { clocksLie } from '../storm.ts'
import { AT_ANY_MOMENT, type Evidence, failuresAreThrown, type Judged, type Rows, seenIsRecorded } from '../verdict.ts'
import { type BookingRow, readBookings } from './bookings.ts'
import { lettersAreWhole } from './letters.ts'
import type { OutsideNote } from './notes.ts'
import type { PlannedOrder } from './order-plan.ts'
import { exceptOfSlowTransactions, onlySlowTransactionsFail } from './slow-transactions.ts'

export interface OutsideEvidence {
  rows: Rows
  ledger: LedgerReading
  notes: (Noted & { note: OutsideNote })[]
  bookings: BookingRow[]
  /** What the log says of each letter, read from the beginning. */
  logs: Map<string, { text: string; isDone: boolean; output: unknown }>
  history: History
  /** V3. */
  graceMs: number
  /** V2. */
  stoodStill(ms: number): boolean
}

const GRACE_MS = 3000
/** Of two clocks that show the same time. */
const CLOCK_PRECISION_MS = 20

export async function judgeOutside(evidence: Evidence): Promise<Judged> {
  const gathered = await gather(evidence)
  const outside = { ...gathered, logs: await readLogs(evidence, gathered.rows) }
  const { rows, ledger, history } = outside
  const violations = [
    ...exceptOfSlowTransactions(checkInvariants(history), rows),
    ...failuresAreThrown(rows),
    ...broken(outside, evidence),
    ...(await evidence.place.integrity()),
  ]
  return { rows, ledger, violations }
}

/** The rows are read after the moment up to which the ledger counts. */
export async function judgeOutsideSoFar(evidence: Evidence): Promise<Violation[]> {
  const outside = { ...(await gather(evidence, sharedClock())), logs: new Map() }
  const always = checkInvariants(outside.history).filter(
    ({ invariant }) => AT_ANY_MOMENT.has(invariant) || invariant === 'I29' || invariant === 'I30',
  )
  return [...always, ...broken(outside, evidence)]
}

/** What is a violation at any moment. */
function broken(outside: OutsideEvidence, evidence: Evidence): Violation[] {
  return [
    ...onlySlowTransactionsFail(outside.rows),
    ...seenIsRecorded(outside.rows, outside.ledger),
    ...nothingBeginsAgain(outside),
    ...onceUnlessItWasNot(outside),
    ...bookingsAreWhole(outside),
    ...outputsAreRecords(outside),
    ...lettersAreWhole(outside),
    ...sleepsAreLongEnough(outside, evidence),
    ...firstSignalCounts(outside),
    ...leasesAreKept(outside, evidence),
  ]
}

async function gather(evidence: Evidence, until?: number): Promise<Omit<OutsideEvidence, 'logs'>> {
  const { place, faults, ledgerFolder, diedAt, maxRecoveries } = evidence
  const [rows, bookings] = await place.atOneMoment(async (store) => [await readRows(store), await readBookings(store)] as const)
  const ledger = readLedger(ledgerFolder, diedAt, until)
  const history: History = {
    ...rows,
    ledger: { executions: [], effects: [], bookings: bookings.map(({ run_id: runId }) => ({ runId, step: 'book' })) },
    plans: { steps: plannedSteps(rows), jobs: new Map() },
    acknowledged: ledger.acknowledged,
    maxRecoveries,
    faultFree: false,
    mayStartLate: true,
  }
  return {
    rows,
    ledger,
    notes: ledger.notes as OutsideEvidence['notes'],
    bookings,
    history,
    graceMs: clocksLie(place, faults) ? GRACE_MS : 0,
    stoodStill: (ms) => ms > place.leaseMs / 2,
  }
}

/** As anybody can read them, from the first event on. */
async function readLogs({ place }: Evidence, { runs }: Rows): Promise<OutsideEvidence['logs']> {
  const durably = createDurably({ store: place.store })
  const logs: OutsideEvidence['logs'] = new Map()
  for (const run of runs.filter((run) => isOrder(run) && run.status === 'completed')) {
    let view: RunView = emptyRunView
    for await (const event of durably.subscribe(run.id)) view = reduceRun(view, event)
    const { text = '', isDone = false } = view.streams.letter ?? {}
    logs.set(run.id, { text, isDone, output: view.output })
  }
  return logs
}

type RunRow = Rows['runs'][number]

function planOf({ payload }: RunRow): PlannedOrder {
  return JSON.parse(payload ?? '{}') as PlannedOrder
}

/** One with all kinds of steps. */
function isOrder(run: RunRow): boolean {
  return run.jobName === 'order' && planOf(run).fanOut === 0
}

function plannedSteps({ runs }: Rows): Map<string, StepPlan> {
  const plans = new Map<string, StepPlan>()
  const child = (isInvoked: boolean): StepPlan => ({ kind: 'child', triesMax: 1, isInvoked, enqueues: false, timeoutMs: null })
  for (const run of runs.filter(({ jobName }) => jobName === 'order')) {
    const set = (step: string, plan: StepPlan) => plans.set(stepKey({ runId: run.id, step }), plan)
    for (let i = 0; i < planOf(run).fanOut; i++) set(`leaf ${i}`, child(i % 2 === 0))
    if (!isOrder(run)) continue
    set('book', { kind: 'booking', triesMax: 1, isInvoked: false, enqueues: true, timeoutMs: null })
    set('invoice', child(true))
    set('mail', child(false))
  }
  return plans
}

/** I2c (V1): what was acknowledged is not begun again, and nothing is begun twice in one execution. */
function nothingBeginsAgain({ ledger, graceMs, stoodStill }: OutsideEvidence): Violation[] {
  const acknowledgedAt = new Map<string, number>()
  for (const { runId, step, at } of ledger.seen) {
    const key = stepKey({ runId, step })
    acknowledgedAt.set(key, Math.min(at, acknowledgedAt.get(key) ?? at))
  }
  const began = new Map<object, Set<string>>()
  const violations: Violation[] = []
  for (const { runId, step, execution, process, stillMs } of ledger.effects) {
    if (!execution) continue
    const broken = (what: string) => violations.push({ invariant: 'I2c', runId, what: `step ${step} ${what} by ${process}` })
    const before = acknowledgedAt.get(stepKey({ runId, step })) ?? Number.POSITIVE_INFINITY
    if (before + graceMs < execution.startedAt && !stoodStill(stillMs)) broken('was acknowledged, and begun again')
    const inExecution = began.get(execution) ?? new Set()
    // A transaction whose outcome is unknown is undone and called again.
    if (inExecution.has(step) && step !== 'book') broken('was begun twice in one execution')
    began.set(execution, inExecution.add(step))
  }
  return violations
}

/** I31: entered again only after somebody said of the last start that it did not take place. */
function onceUnlessItWasNot({ ledger, notes, graceMs, stoodStill }: OutsideEvidence): Violation[] {
  const answers = notes.flatMap(({ at, note }) => (note.kind === 'reconciled' && note.wasNot ? [{ at, runId: note.runId }] : []))
  const answersByRun = grouped(answers, ({ runId }) => runId)
  const starts = grouped(
    ledger.effects.filter(({ once }) => once),
    ({ runId }) => runId,
  )
  const violations: Violation[] = []
  for (const [runId, effects] of starts) {
    const inOrder = effects.toSorted((a, b) => a.startedAt - b.startedAt)
    for (const [i, again] of inOrder.entries()) {
      const before = inOrder[i - 1]
      if (!before || stoodStill(again.stillMs) || again.startedAt < before.startedAt + graceMs) continue
      const mayRun = answersByRun.get(runId)?.some(({ at }) => before.startedAt < at && at < again.startedAt)
      const what = `${again.step} was begun by ${before.process} and again by ${again.process}, and nobody said that it should`
      if (!mayRun) violations.push({ invariant: 'I31', runId, what })
    }
  }
  return violations
}

/** I30: both rows of a booking are of the call that was recorded. */
function bookingsAreWhole({ bookings, rows }: OutsideEvidence): Violation[] {
  const recorded = new Map(rows.steps.filter(isCompleted).map(({ runId, name, output }) => [stepKey({ runId, step: name }), output]))
  return bookings
    .filter(({ run_id: runId, booked_by: value }) => recorded.get(stepKey({ runId, step: 'book' })) !== JSON.stringify(value))
    .map(({ run_id: runId, leg, booked_by: value }) => ({
      invariant: 'I30',
      runId,
      what: `leg ${leg} is booked by ${value}, not recorded`,
    }))
}

/** I11: an output is made of exactly the values that were recorded, in the rows and for followers. */
function outputsAreRecords({ rows, logs }: OutsideEvidence): Violation[] {
  const byRun = grouped(rows.steps.filter(isCompleted), ({ runId }) => runId)
  return rows.runs.filter(isOrder).flatMap(({ id, status, output }) => {
    if (status !== 'completed') return []
    const values = JSON.parse(output ?? '{}') as Record<string, unknown>
    const expected = Object.fromEntries((byRun.get(id) ?? []).map(({ name, output }) => [name, recordedValue(name, output)]))
    const followed = logs.get(id)?.output ?? values
    const wrong = [values, followed].find((one) => inOrder(one) !== inOrder(expected))
    return wrong === undefined ? [] : [{ invariant: 'I11', runId: id, what: `its output ${inOrder(wrong)} is not ${inOrder(expected)}` }]
  })
}

function recordedValue(name: string, output: string | null): unknown {
  const value: unknown = JSON.parse(output ?? 'null')
  return name === 'approval' ? (value as unknown[])[0] : value
}

function inOrder(values: unknown): string {
  return JSON.stringify(Object.entries(Object(values)).toSorted(([a], [b]) => a.localeCompare(b)))
}

/** I25: from the first call of a sleep to the first that goes on. */
function sleepsAreLongEnough({ notes, graceMs }: OutsideEvidence, { place }: Evidence): Violation[] {
  // By clocks that are wrong in either direction it may seem to be over at once.
  const lateMs = graceMs > 0 ? 2 * place.clockRangeMs : CLOCK_PRECISION_MS
  const began = new Map<string, { at: number; ms: number }>()
  const ended = new Map<string, number>()
  for (const { at, note } of notes) {
    if (note.kind === 'calls sleep' && at < (began.get(note.runId)?.at ?? Number.POSITIVE_INFINITY))
      began.set(note.runId, { at, ms: note.ms })
    if (note.kind === 'awake') ended.set(note.runId, Math.min(at, ended.get(note.runId) ?? at))
  }
  return [...began].flatMap(([runId, { at, ms }]) => {
    const slept = (ended.get(runId) ?? Number.POSITIVE_INFINITY) - at
    return slept >= ms - lateMs ? [] : [{ invariant: 'I25', runId, what: `slept ${Math.round(slept)} of ${ms} ms` }]
  })
}

/** I26: only one sender learns that its signal was accepted, however often it asks, and its value is what the run gets. */
function firstSignalCounts({ notes, rows }: OutsideEvidence): Violation[] {
  const received = new Map(rows.steps.filter(({ name }) => name === 'approval').map(({ runId, output }) => [runId, output]))
  const accepted = new Map<string, { key: string; value: string; at: number }>()
  const violations: Violation[] = []
  const broken = (runId: string, what: string) => violations.push({ invariant: 'I26', runId, what })
  const inOrder = notes.toSorted((a, b) => a.at - b.at)
  for (const { at, note } of inOrder) {
    if (note.kind !== 'signal') continue
    const { runId, key, value, answer } = note
    const first = accepted.get(runId)
    if (answer === 'accepted' && first && first.key !== key) broken(runId, `was sent ${value}, accepted after ${first.value}`)
    if (answer === 'signal_taken' && first?.key === key) broken(runId, `${value} was accepted, and the same again refused`)
    if (answer === 'accepted') accepted.set(runId, first ?? { key, value, at })
  }
  for (const [runId, { value }] of accepted) {
    const got = received.get(runId)
    if (got !== undefined && got !== JSON.stringify([value])) broken(runId, `${value} was accepted, the run got ${got}`)
  }
  return violations
}

/** I10: a worker that no fault hits keeps its lease, however much else there is to do. */
function leasesAreKept({ rows }: OutsideEvidence, { faults }: Evidence): Violation[] {
  if (isStruck(faults)) return []
  return rows.events
    .filter(({ type }) => type === 'run:reclaim')
    .map(({ runId }) => ({ invariant: 'I10', runId, what: 'was taken back, and nobody was struck' }))
}

function isCompleted({ status }: { status: string }): boolean {
  return status === 'completed'
}
