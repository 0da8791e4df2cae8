// A transaction that is too slow for its limit fails, and its run with it: on a busy machine that is what the limit is for.
import type { Violation } from '../../../../packages/durably/dist/testing/invariants/index.js'
import type { Rows } from '../verdict.ts'

type Steps = Pick<Rows, 'steps'>

/** I9: nothing but such a transaction fails, whatever befalls the database. */
export function onlySlowTransactionsFail({ steps }: Steps): Violation[] {
  return steps
    .filter((step) => step.status === 'failed' && !isSlowTransaction(step))
    .map(({ runId, name, error }) => ({ invariant: 'I9', runId, what: `step ${name} failed: ${error}` }))
}

/** The general judge knows of no function that threw, and takes the end of such a run for a fault of the engine. */
export function exceptOfSlowTransactions(violations: readonly Violation[], { steps }: Steps): Violation[] {
  const slow = new Set(steps.filter(isSlowTransaction).map(({ runId }) => runId))
  return violations.filter(({ invariant, runId }) => invariant !== 'I9' || runId === null || !slow.has(runId))
}

function isSlowTransaction({ status, failure }: Steps['steps'][number]): boolean {
  return status === 'failed' && JSON.parse(failure ?? '{}').code === 'transaction_timeout'
}
