// Steps that commit with rows of the user, and steps that must not run twice.
import type { StepRow } from '../../model/step.ts'
import { grouped, type Invariant, recordsByStep, runsByTrigger, stepKey, type Violation } from './history.ts'

/** I30: what a transaction wrote is there exactly once if its step is recorded, and not at all if it is not, or took longer than it may. */
export const transactionsAreWhole: Invariant = (history) => {
  const { bookings } = history.ledger
  if (!bookings) return []
  const rows = grouped(bookings, stepKey)
  const recorded = recordsByStep(history)
  const triggered = runsByTrigger(history)
  const violations: Violation[] = []
  for (const [key, plan] of history.plans?.steps ?? []) {
    if (plan.kind !== 'booking') continue
    const runId = key.slice(0, key.indexOf('/'))
    const expect = (what: string, actual: number, perRecord: number) => {
      const expected = recorded.has(key) ? perRecord : 0
      if (actual !== expected) violations.push({ invariant: 'I30', runId, what: `${key} has ${actual} ${what}, it must have ${expected}` })
    }
    expect('rows', rows.get(key)?.length ?? 0, ROWS_PER_BOOKING)
    const enqueued = triggered.get(key)?.filter(({ parentRunId }) => parentRunId === null)
    expect('runs', enqueued?.length ?? 0, plan.enqueues ? 1 : 0)
    const { dawdles = 0 } = plan
    const { execution = dawdles } = JSON.parse(recorded.get(key)?.output ?? '{}') as { execution?: number }
    if (execution < dawdles) violations.push({ invariant: 'I30', runId, what: `${key} is recorded, and took longer than it may` })
  }
  return violations
}

const ROWS_PER_BOOKING = 2

/** I31: an effect that must not run twice runs again only if it is known to have failed, or it was decided that it did not take place. */
export const onceMeansOnce: Invariant = ({ ledger, steps, ...history }) => {
  const answers = grouped(ledger.answers ?? [], stepKey)
  const failures = new Set(steps.filter(isKnownFailure).map(({ runId, name, leaseGeneration }) => `${runId}/${name}/${leaseGeneration}`))
  const violations: Violation[] = []
  for (const [key, starts] of grouped(
    ledger.effects.filter(({ once }) => once),
    stepKey,
  )) {
    const inOrder = starts.toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
    for (const [i, again] of inOrder.entries()) {
      const before = inOrder[i - 1]
      if (!before || (!before.tookPlace && failures.has(`${key}/${before.generation}`))) continue
      const mayRun = answers.get(key)?.some(({ place, wasNot }) => wasNot && place > (before.place ?? 0) && place < (again.place ?? 0))
      // Only a clock that jumps takes a lease from somebody who has every reason to begin.
      if (mayRun || history.mayStartLate) continue
      violations.push({
        invariant: 'I31',
        runId: again.runId,
        what: `${again.step} ran in generation ${before.generation} and again in ${again.generation}, without a decision that it should`,
      })
    }
  }
  return violations
}

/** What ran out of time may still have taken place; what returned a value that cannot be stored has. */
const NOT_KNOWN = new Set(['timeout', 'store_rejected'])

function isKnownFailure({ status, failure }: StepRow): boolean {
  return status === 'failed' && !NOT_KNOWN.has((JSON.parse(failure ?? '{}') as { code?: string }).code ?? '')
}
