// Invariants of time and signals: when runs start and resume, and which signals they receive.
import { decodeWaits } from '../../model/wait.ts'
import { claimsByLease, grouped, type Invariant, retryAftersByLease, stepKey, type Violation } from './history.ts'

/** The record of a wait whose time was over. */
const TIMED_OUT = '[]'

/** I24: nothing starts before its `run_at`, and that is not before the delay it was triggered with. */
export const nothingStartsEarly: Invariant = ({ ledger: { claims = [], created = [] } }) => {
  const violations: Violation[] = []
  const first = new Map(claims.toReversed().map((claim) => [claim.runId, claim]))
  for (const { runId, runAt, atMs, generation } of claims) {
    if (runAt > atMs)
      violations.push({ invariant: 'I24', runId, what: `generation ${generation} started ${runAt - atMs} ms before its time` })
  }
  for (const { runId, dueAt } of created) {
    const claim = first.get(runId)
    if (claim && claim.atMs < dueAt)
      violations.push({ invariant: 'I24', runId, what: `started ${dueAt - claim.atMs} ms before the time it was triggered for` })
  }
  return violations
}

/** I25: a sleep, or the timeout of a wait, is not over before it is over by the store's clock. */
export const nobodyWakesEarly: Invariant = (history) => {
  const { waits = [] } = history.ledger
  const claims = claimsByLease(history)
  const called = grouped(waits, stepKey)
  const violations: Violation[] = []
  for (const { runId, name, status, output, leaseGeneration } of history.steps) {
    const calls = called.get(stepKey({ runId, step: name }))
    const isSleep = history.plans?.steps.get(stepKey({ runId, step: name }))?.kind === 'sleep'
    if (!calls || status !== 'completed' || !(isSleep || output === TIMED_OUT)) continue
    const claim = claims.get(`${runId}/${leaseGeneration}`)
    const isDue = calls.some(({ generation, dueAt, isOver }) => {
      if (dueAt === null) return false
      if (generation === leaseGeneration) return isOver
      return generation < leaseGeneration && claim !== undefined && dueAt <= claim.atMs
    })
    if (!isDue) violations.push({ invariant: 'I25', runId, what: `${name} was over in generation ${leaseGeneration}, before its time` })
  }
  return violations
}

/** I25: when a run is parked, each sleep and each time limit that has begun is recorded with its end, also if the job is attempted again. */
export const endsAreWrittenDown: Invariant = (history) => {
  const { waits = [], putAway = [] } = history.ledger
  const called = grouped(waits, ({ runId }) => runId)
  const recorded = new Map(history.steps.map(({ runId, name, leaseGeneration }) => [stepKey({ runId, step: name }), leaseGeneration]))
  const violations: Violation[] = []
  for (const { runId, generation, waitingFor } of putAway) {
    for (const { step, isOver, dueAt } of (called.get(runId) ?? []).filter((call) => call.generation === generation)) {
      const key = stepKey({ runId, step })
      const isRecorded = (recorded.get(key) ?? Number.POSITIVE_INFINITY) <= generation
      if (dueAt === null || isOver || isRecorded) continue
      // The recorded end is that of the first call that parked; after a clock jumped back it may be later than that of this call.
      const calls = (called.get(runId) ?? []).filter((call) => call.step === step && call.generation <= generation)
      const latest = Math.max(...calls.map(({ dueAtMost }) => dueAtMost ?? 0)) + 1
      const written = decodeWaits(waitingFor).find(({ name }) => name === step)
      if (!written || (written.dueAt ?? 0) > latest)
        violations.push({ invariant: 'I25', runId, what: `generation ${generation} waited in ${step}, written down is ${waitingFor}` })
    }
  }
  return violations
}

/** I25: a step that is to be tried again later is not tried before. */
export const triesWait: Invariant = (history) => {
  const claims = claimsByLease(history)
  return history.ledger.effects.flatMap(({ runId, step, generation }) => {
    const claim = claims.get(`${runId}/${generation}`)
    const wait = decodeWaits(claim?.waitingFor ?? null).find(({ name, kind }) => name === step && kind === 'retry')
    if (!claim || !wait || (wait.dueAt ?? 0) <= claim.atMs) return []
    return [{ invariant: 'I25', runId, what: `${step} was tried ${(wait.dueAt ?? 0) - claim.atMs} ms before its time` }]
  })
}

/** I25: a step that threw an error with `retryAfter` is not tried before that time. */
export const triesWaitAsAsked: Invariant = (history) => {
  const retryAfters = retryAftersByLease(history)
  const claims = claimsByLease(history)
  return (history.ledger.putAway ?? []).flatMap(({ runId, generation, waitingFor }) => {
    // An older wait of the same step stays recorded when there is no new try.
    const old = decodeWaits(claims.get(`${runId}/${generation}`)?.waitingFor ?? null)
    const isOld = (name: string, dueAt: number | null) => old.some((wait) => wait.name === name && wait.dueAt === dueAt)
    return decodeWaits(waitingFor).flatMap(({ name, kind, dueAt }) => {
      const asked = kind === 'retry' && !isOld(name, dueAt) ? retryAfters.get(`${stepKey({ runId, step: name })}/${generation}`) : undefined
      // Clocks have fractions of a millisecond, times in rows have none.
      const missing = asked ? asked.thrownAt + asked.afterMs - 1 - (dueAt ?? 0) : 0
      return missing > 0 ? [{ invariant: 'I25', runId, what: `${name} is to be tried ${missing} ms before the time it asked for` }] : []
    })
  })
}

/** I26: a job gets the first signal that was accepted, and a wait does not time out when its signal was there. */
export const firstSignalCounts: Invariant = (history) => {
  const { signals, waits = [] } = history.ledger
  if (!signals) return []
  const claims = claimsByLease(history)
  const first = new Map(signals.toReversed().map((signal) => [stepKey({ runId: signal.runId, step: signal.name }), signal]))
  const waited = new Set(waits.map(stepKey))
  const violations: Violation[] = []
  for (const { runId, name, status, output, leaseGeneration } of history.steps) {
    const key = stepKey({ runId, step: name })
    if (status !== 'completed' || !waited.has(key) || history.plans?.steps.get(key)?.kind !== 'wait') continue
    const signal = first.get(key)
    const broken = (what: string) => violations.push({ invariant: 'I26', runId, what: `signal ${name}: ${what}` })
    if (output !== TIMED_OUT) {
      if (!signal || output !== `[${signal.value}]`) broken(`${output} was received, the first one sent was ${signal?.value ?? 'none'}`)
    } else if (signal && signal.place < (claims.get(`${runId}/${leaseGeneration}`)?.place ?? 0)) {
      broken('its time was over, though it had come before')
    }
  }
  return violations
}
