// Invariants of how runs end, of their event logs, and of what was acknowledged.
import { isTerminal, type RunRow } from '../../model/run.ts'
import { unexplainedGaps } from './event-gaps.ts'
import { eventsByRun, grouped, type Invariant, recordsByStep, type Violation } from './history.ts'

const TERMINAL_EVENTS: Record<string, RunRow['status']> = { 'run:complete': 'completed', 'run:fail': 'failed', 'run:cancel': 'cancelled' }

/** I3: after the end nothing happens, but a retry after a failure. The last ending is the status. */
export const endingsAreFinal: Invariant = (history) => {
  const violations: Violation[] = []
  const events = eventsByRun(history)
  for (const run of history.runs) {
    let ended: RunRow['status'] | null = null
    for (const { seq, type } of events.get(run.id) ?? []) {
      if (type === 'run:retry' && ended === 'failed') ended = null
      else if (ended !== null) violations.push({ invariant: 'I3', runId: run.id, what: `seq ${seq}: ${type} after the run was ${ended}` })
      ended = TERMINAL_EVENTS[type] ?? ended
    }
    if (events.has(run.id) && (isTerminal(run.status) ? run.status : null) !== ended) {
      violations.push({ invariant: 'I3', runId: run.id, what: `status is ${run.status}, the event log says ${ended ?? 'not ended'}` })
    }
  }
  return violations
}

/** I4: `seq` goes from 1 up to the run's counter; the only gaps are chunks of streams that were recorded. */
export const eventsAreGapless: Invariant = (history) => {
  const events = grouped(history.events, ({ runId }) => runId)
  return history.runs.flatMap((run) => {
    const logged = events.get(run.id) ?? []
    const gaps = unexplainedGaps(logged, run.lastEventSequence)
    const what = `event numbers are wrong at ${gaps}: ${logged.map(({ seq }) => seq)}, and the counter is ${run.lastEventSequence}`
    return gaps.length === 0 ? [] : [{ invariant: 'I4', runId: run.id, what }]
  })
}

/** I5: once faults stop, every run ends. */
export const everyRunEnds: Invariant = ({ runs }) =>
  runs
    .filter((run) => !isTerminal(run.status))
    .map((run) => ({ invariant: 'I5', runId: run.id, what: `is still ${run.status} after everything healed` }))

/** I9: a run fails by its own code or by a limit, never because the database was unavailable. */
export const failuresAreTheJobs: Invariant = (history) => {
  const { effects, gaveUp = [] } = history.ledger
  const threw = new Set(effects.filter((effect) => effect.outcome === 'threw').map((effect) => effect.runId))
  for (const { runId, why } of gaveUp) if (why !== 'other') threw.add(runId)
  const violations: Violation[] = []
  for (const run of history.runs) {
    if (run.status !== 'failed') continue
    if (run.reason === 'error' && !threw.has(run.id))
      violations.push({ invariant: 'I9', runId: run.id, what: `failed with ${JSON.stringify(run.error)}, but no function threw` })
    if (run.reason === null) violations.push({ invariant: 'I9', runId: run.id, what: 'failed without a reason' })
  }
  return violations
}

/** I12: one run per job and idempotency key, and every trigger with that key got its id. The key of a run that was purged is free again. */
export const oneRunPerIdempotencyKey: Invariant = ({ acknowledged, purged, ledger: { created = [] } }) => {
  const createdAt = new Map(created.map(({ runId, place }) => [runId, place]))
  const placeOf = (places: ReadonlyMap<string, number> | undefined, runId: string) => places?.get(runId) ?? Number.POSITIVE_INFINITY
  const violations: Violation[] = []
  const keyed = acknowledged.flatMap((ack) => (ack.kind === 'triggered' && ack.idempotencyKey !== null ? [ack] : []))
  for (const { runId, askedAt = 0 } of keyed) {
    if (placeOf(purged, runId) < askedAt) violations.push({ invariant: 'I12', runId, what: 'was the answer to a trigger after its purge' })
  }
  for (const [key, acks] of grouped(keyed, ({ jobName, idempotencyKey }) => `${jobName}/${idempotencyKey}`)) {
    // Answers may arrive in another order than the runs were created: the answer about a run may be slower than its execution and its purge.
    const ids = [...new Set(acks.map(({ runId }) => runId))].sort((a, b) => placeOf(createdAt, a) - placeOf(createdAt, b))
    for (const [i, runId] of ids.slice(1).entries()) {
      const before = ids[i] ?? ''
      if (placeOf(purged, before) >= placeOf(createdAt, runId))
        violations.push({ invariant: 'I12', runId, what: `key ${key} had run ${before} when this one was created` })
    }
  }
  return violations
}

/** I13: running means owned, with a lease. */
export const runningMeansOwned: Invariant = ({ runs }) =>
  runs
    .filter(
      (run) => (run.status === 'running') !== (run.leaseOwner !== null) || (run.status === 'running') !== (run.leaseExpiresAt !== null),
    )
    .map((run) => ({ invariant: 'I13', runId: run.id, what: `${run.status} with owner ${run.leaseOwner} and lease ${run.leaseExpiresAt}` }))

/** I15: a run that was asked to stop ends, and no other one is cancelled. */
export const cancelHolds: Invariant = ({ runs }) =>
  runs
    .filter(({ status, cancelRequestedAt }) =>
      status === 'cancelled' ? cancelRequestedAt === null : cancelRequestedAt !== null && !isTerminal(status),
    )
    .map((run) => ({ invariant: 'I15', runId: run.id, what: `is ${run.status}, asked to stop at ${run.cancelRequestedAt}` }))

/** I17: recoveries stay within their cap. */
export const recoveriesAreCapped: Invariant = ({ runs, maxRecoveries }) =>
  runs
    .filter((run) => run.recoveries > maxRecoveries)
    .map((run) => ({ invariant: 'I17', runId: run.id, what: `${run.recoveries} recoveries, the cap is ${maxRecoveries}` }))

/** I18: what was acknowledged is there. */
export const acknowledgedIsKept: Invariant = (history) => {
  const runs = new Map(history.runs.map((run) => [run.id, run]))
  const recorded = recordsByStep(history)
  const events = eventsByRun(history)
  const violations: Violation[] = []
  for (const ack of history.acknowledged) {
    const { runId } = ack
    if (!runs.has(runId)) violations.push({ invariant: 'I18', runId, what: 'was acknowledged and is gone' })
    else if (ack.kind === 'step' && !recorded.has(`${runId}/${ack.step}`))
      violations.push({ invariant: 'I18', runId, what: `step ${JSON.stringify(ack.step)} was acknowledged and is gone` })
    else if (ack.kind === 'ended' && !events.get(runId)?.some(({ type }) => TERMINAL_EVENTS[type] === ack.status)) {
      violations.push({ invariant: 'I18', runId, what: `its end as ${ack.status} was acknowledged and is gone` })
    }
  }
  return violations
}
