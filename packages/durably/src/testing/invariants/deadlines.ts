// What a deadline means for those who work, and for how a run ends.
import { grouped, type Invariant, type JobExecution, type Violation } from './history.ts'

/** I32: when its time is over, nothing more of a run begins, and what it then returns does not complete it. */
export const nothingAfterTheDeadline: Invariant = ({ runs, ledger, mayStartLate }) => {
  if (mayStartLate) return []
  const limited = new Map(runs.filter(({ deadlineAt }) => deadlineAt !== null).map((run) => [run.id, run]))
  const work = grouped<JobExecution>([...ledger.executions, ...ledger.effects], ({ runId }) => runId)
  const violations: Violation[] = []
  for (const [runId, run] of limited) {
    for (const { startedAt, freeAt, generation } of work.get(runId) ?? []) {
      if (freeAt !== undefined && startedAt > freeAt)
        violations.push({
          invariant: 'I32',
          runId,
          what: `generation ${generation} began something ${startedAt - freeAt} ms after its time`,
        })
    }
    const last = ledger.executions.find((execution) => execution.runId === runId && execution.generation === run.leaseGeneration)
    if (run.status === 'completed' && (last?.endedAt ?? 0) > (last?.freeAt ?? Number.POSITIVE_INFINITY))
      violations.push({ invariant: 'I32', runId, what: 'completed, but returned after its time was over' })
  }
  return violations
}

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
