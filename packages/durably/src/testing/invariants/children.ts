// Invariants of child runs.
import { jsonCodec } from '../../model/codec.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import { type Invariant, recordsByStep, runsByTrigger, stepKey, type Violation } from './history.ts'

const codec = jsonCodec()

/** I29: a step triggers one child, however often it is executed; what it records is that child, or its output. */
export const oneChildPerStep: Invariant = (history) => {
  if (!history.plans) return []
  const children = runsByTrigger(history)
  const records = recordsByStep(history)
  const gaveUp = new Set(history.ledger.gaveUp?.map(stepKey))
  const endedBadly = new Set(history.events.filter(({ type }) => type === 'run:fail' || type === 'run:cancel').map(({ runId }) => runId))
  const violations: Violation[] = []
  for (const [key, plan] of history.plans.steps) {
    if (plan.kind !== 'child') continue
    const runId = key.slice(0, key.indexOf('/'))
    const broken = (what: string) => violations.push({ invariant: 'I29', runId, what: `${key} ${what}` })
    const triggered = children.get(key) ?? []
    if (triggered.length > 1) broken(`triggered ${triggered.length} runs`)
    if (triggered.some(({ parentRunId }) => parentRunId !== runId)) broken('triggered a run that has another parent')
    const record = records.get(key)
    const isRecorded = ({ id, status, output }: RunRow) =>
      plan.isInvoked ? status === 'completed' && output === record?.output : record?.output === codec.encode({ id }, 'child')
    if (record && !triggered.some(isRecorded)) broken(`records ${record.output}, which is not what it triggered`)
    const isReported = plan.isInvoked && gaveUp.has(key)
    if (isReported && !triggered.some(({ id }) => endedBadly.has(id))) broken('failed, but what it triggered did not')
  }
  return violations
}

/** I29: only the owner of a run triggers others below it: they are created while it is running. */
export const childrenHaveAnOwner: Invariant = ({ ledger: { created = [] } }) =>
  created
    .filter(({ parentStatus }) => parentStatus !== null && parentStatus !== 'running')
    .map(({ runId, parentStatus }) => ({ invariant: 'I29', runId, what: `was created when the run that triggered it was ${parentStatus}` }))

/** I29: no function of a child begins under a lease that came after its parent was asked to stop. */
export const cancelledParentsStartNothing: Invariant = ({ ledger }) => {
  const doomed = new Set(
    (ledger.claims ?? []).filter(({ isCancelled }) => isCancelled).map((claim) => `${claim.runId}/${claim.generation}`),
  )
  return ledger.effects
    .filter(({ runId, generation }) => doomed.has(`${runId}/${generation}`))
    .map(({ runId, step, generation }) => ({
      invariant: 'I29',
      runId,
      what: `${step} began in generation ${generation}, though it, or a run above it, was asked to stop before`,
    }))
}

/** I29: where a run was cancelled, none of those that it triggered goes on. */
export const cancelReachesChildren: Invariant = ({ runs }) => {
  const cancelled = new Set(runs.filter(({ status }) => status === 'cancelled').map(({ id }) => id))
  return runs
    .filter(({ parentRunId, status }) => parentRunId !== null && cancelled.has(parentRunId) && !isTerminal(status))
    .map(({ id, status }) => ({ invariant: 'I29', runId: id, what: `is ${status}, and the run that triggered it was cancelled` }))
}
