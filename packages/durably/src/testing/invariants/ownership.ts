// Invariants of ownership: only the owner of a run writes to it and executes its functions.
import { eventsByRun, grouped, type Invariant, type JobExecution, type Violation } from './history.ts'
import { ENDS_OWNERSHIP, lostGenerations, TAKES_OWNERSHIP } from './lost-leases.ts'

/** I1a, I6: between two claims every owner's event carries the generation of the last claim, and none comes after the lease ended. */
export const oneOwnerAtATime: Invariant = (history) => {
  const violations: Violation[] = []
  for (const [runId, events] of eventsByRun(history)) {
    let owner: number | null = null
    for (const { seq, type, payload } of events) {
      const generation = payload.generation ?? null
      if (type === TAKES_OWNERSHIP) {
        if (owner !== null)
          violations.push({
            invariant: 'I1a',
            runId,
            what: `seq ${seq}: claimed as generation ${generation} while generation ${owner} owned it`,
          })
        owner = generation
      } else if (generation !== null && generation !== owner) {
        violations.push({
          invariant: 'I6',
          runId,
          what: `seq ${seq}: ${type} by generation ${generation}, the owner was ${owner ?? 'nobody'}`,
        })
      }
      if (ENDS_OWNERSHIP.has(type)) owner = null
    }
  }
  return violations
}

/** I1b: never two running runs with one concurrency key. */
export const oneRunPerKey: Invariant = ({ runs }) => {
  const holders = new Map<string, string>()
  const violations: Violation[] = []
  for (const { id, status, concurrencyKey } of runs) {
    if (status !== 'running' || concurrencyKey === null) continue
    const other = holders.get(concurrencyKey)
    if (other) violations.push({ invariant: 'I1b', runId: id, what: `runs with the same key as run ${other}` })
    holders.set(concurrencyKey, id)
  }
  return violations
}

/**
 * I1c: functions of one run, or of one key, overlap only if the one that began first had lost its lease, was out of time, or its job had
 * thrown. Where processes can be stopped at any line, or clocks mislead, the one that began later may instead be the one without a lease.
 */
export const overlapOnlyAfterLoss: Invariant = (history) => {
  const keys = new Map(history.runs.map((run) => [run.id, run.concurrencyKey ?? run.id]))
  const lost = lostGenerations(history)
  const work: JobExecution[] = [...history.ledger.executions, ...history.ledger.effects]
  const byKey = grouped(work, (execution) => keys.get(execution.runId) ?? execution.runId)
  const excused = (earlier: JobExecution, later: JobExecution) =>
    lost.has(nameOf(earlier)) ||
    (earlier.freeAt !== undefined && earlier.freeAt <= later.startedAt) ||
    ((history.mayStartLate === true || later.hasMisleadingClocks === true) && lost.has(nameOf(later)))
  const violations: Violation[] = []
  for (const executions of byKey.values()) {
    const inOrder = executions.toSorted((a, b) => a.startedAt - b.startedAt)
    for (const [i, earlier] of inOrder.entries()) {
      for (const later of overlapping(inOrder, i)) {
        if (nameOf(earlier) === nameOf(later) || excused(earlier, later)) continue
        violations.push({
          invariant: 'I1c',
          runId: earlier.runId,
          what: `${nameOf(earlier)} and ${nameOf(later)} overlap, but the first never lost its lease`,
        })
      }
    }
  }
  return violations
}

/** I6: after its signal was aborted an execution starts no further step. */
export const noStepAfterStop: Invariant = ({ ledger }) =>
  ledger.effects
    .filter((effect) => effect.wasAborted)
    .map(({ runId, step, generation }) => ({
      invariant: 'I6',
      runId,
      what: `step ${step} of generation ${generation} began after its signal was aborted`,
    }))

/** Those that began after number `i`, in the order of their beginning, and before it ended. */
function overlapping(inOrder: readonly JobExecution[], i: number): JobExecution[] {
  const endedAt = inOrder[i]?.endedAt ?? Number.POSITIVE_INFINITY
  let next = i + 1
  while ((inOrder[next]?.startedAt ?? Number.POSITIVE_INFINITY) < endedAt) next++
  return inOrder.slice(i + 1, next)
}

function nameOf({ runId, generation }: JobExecution): string {
  return `${runId}/${generation}`
}
