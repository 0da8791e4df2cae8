// What a deadline means for executions, and for how a run ends.
import type { Invariant, Violation } from './history.ts'

/** I32: when its time is over, nothing more of a run begins, and what it then returns does not complete it. */
export const nothingAfterTheDeadline: Invariant = ({ runs, ledger, mayStartLate }) => {
  if (mayStartLate) return []
  const late = [...ledger.executions, ...ledger.effects].filter(({ startedLate }) => startedLate)
  const violations: Violation[] = late.map(({ runId, generation, startedAt, freeAt = 0 }) => ({
    invariant: 'I32',
    runId,
    what: `generation ${generation} began something ${startedAt - freeAt} ms after its time`,
  }))
  const completed = new Map(runs.filter(({ status }) => status === 'completed').map((run) => [run.id, run]))
  for (const { runId, generation, endedLate } of ledger.executions) {
    if (endedLate && completed.get(runId)?.leaseGeneration === generation)
      violations.push({ invariant: 'I32', runId, what: 'completed, but returned after its time was over' })
  }
  return violations
}

/** I32: no execution is aborted as out of time before its time is over. */
export const noTimeIsBroughtForward: Invariant = ({ ledger }) =>
  ledger.executions
    .filter(({ timedOutAt, limitAt }) => timedOutAt !== undefined && limitAt !== undefined && timedOutAt < limitAt - ROUNDING_MS)
    .map(({ runId, generation, timedOutAt, limitAt }) => ({
      invariant: 'I32',
      runId,
      what: `generation ${generation} was out of time at ${timedOutAt}, its time was over at ${limitAt}`,
    }))

/** Clocks have fractions of a millisecond, times in rows have none. */
const ROUNDING_MS = 1

/** I32: only what has a time can be out of it. */
export const timeoutsHaveACause: Invariant = ({ runs, plans, mayStartLate }) => {
  if (!plans) return []
  return runs
    .filter(({ status, reason }) => status === 'failed' && reason === 'timeout')
    .filter(({ id, jobName, deadlineAt, finishedAt }) => {
      const isDeadline = deadlineAt !== null && (mayStartLate || (finishedAt ?? 0) >= deadlineAt)
      const isLimited = plans.jobs.get(jobName)?.timeoutMs != null
      const hasLimitedStep = [...plans.steps].some(
        ([key, { timeoutMs, kind }]) => key.startsWith(`${id}/`) && kind === 'work' && timeoutMs !== null,
      )
      return !(isDeadline || isLimited || hasLimitedStep)
    })
    .map(({ id }) => ({ invariant: 'I32', runId: id, what: 'failed with reason timeout, but its time was not over' }))
}
