// Invariants of retries: how often jobs and steps are tried.
import {
  claimsByLease,
  eventsByRun,
  grouped,
  type Invariant,
  type ParsedEvent,
  retryAftersByLease,
  stepKey,
  THE_JOB,
  type Violation,
} from './history.ts'
import { lostGenerations } from './lost-leases.ts'

/** I27: `attempts` is the number of executions that failed since the run was last retried by hand, within what its policy allows. */
export const attemptsAreCounted: Invariant = (history) => {
  const events = eventsByRun(history)
  const violations: Violation[] = []
  for (const run of history.runs) {
    const broken = (what: string) => violations.push({ invariant: 'I27', runId: run.id, what })
    const most = history.plans?.jobs.get(run.jobName)?.attemptsMax
    let failed = 0
    for (const event of events.get(run.id) ?? []) {
      if (isSentBack(event)) failed = 0
      if (!isFailedAttempt(event)) continue
      failed++
      const { attempt } = event.payload
      if (attempt !== undefined && attempt !== failed) broken(`seq ${event.seq}: called attempt ${attempt}, it was number ${failed}`)
      if (most !== undefined && event.type === 'run:retry' && failed >= most) broken(`seq ${event.seq}: retried after ${failed} of ${most}`)
    }
    if (run.attempts !== failed) broken(`attempts is ${run.attempts}, ${failed} executions failed`)
    if (most !== undefined && failed > most) broken(`${failed} attempts, the policy allows ${most}`)
  }
  return violations
}

/** I27: a run does not fail while its policy allows another attempt. */
export const nobodyGivesUpEarly: Invariant = (history) => {
  const notes = grouped(history.ledger.gaveUp ?? [], ({ runId }) => runId)
  return history.runs.flatMap((run) => {
    const plan = history.plans?.jobs.get(run.jobName)
    const isOwn = notes.get(run.id)?.every(({ why }) => why === 'own') ?? false
    const isFinal = run.status !== 'failed' || run.reason !== 'error' || run.deadlineAt !== null
    if (!plan || !isOwn || isFinal || run.attempts >= plan.attemptsMax) return []
    return [{ invariant: 'I27', runId: run.id, what: `failed after ${run.attempts} attempts, the policy allows ${plan.attemptsMax}` }]
  })
}

/** I27: between two attempts there is at least the delay of the policy, or of the `retryAfter` error. */
export const attemptsWait: Invariant = (history) => {
  const claims = claimsByLease(history)
  const retryAfters = retryAftersByLease(history)
  const jobs = new Map(history.runs.map(({ id, jobName }) => [id, jobName]))
  const violations: Violation[] = []
  for (const [runId, events] of eventsByRun(history)) {
    const delayMs = history.plans?.jobs.get(jobs.get(runId) ?? '')?.delayMs ?? 0
    for (const { type, payload } of events) {
      if (type !== 'run:retry' || payload.generation === undefined) continue
      const failed = claims.get(`${runId}/${payload.generation}`)
      const next = claims.get(`${runId}/${payload.generation + 1}`)
      // A run that was asked to stop is claimed at once, to end.
      if (!failed || !next || next.isCancelled) continue
      const asked = retryAfters.get(`${stepKey({ runId, step: THE_JOB })}/${payload.generation}`)
      if (next.atMs >= (asked ? asked.thrownAt + asked.afterMs - ROUNDING_MS : failed.atMs + delayMs)) continue
      // The store's clock was set back in between, but enough time has passed.
      if (next.worldMs - failed.worldMs >= (asked?.afterMs ?? delayMs)) continue
      violations.push({ invariant: 'I27', runId, what: `generation ${next.generation} came ${next.atMs - failed.atMs} ms after the last` })
    }
  }
  return violations
}

/** Clocks have fractions of a millisecond, times in rows have none. */
const ROUNDING_MS = 1

/**
 * I28: a step is tried as often as its policy says, and then the job gets its error. It may be called once more after each execution of
 * the job that failed, was lost or released, and, if its failure did not end the job, after each wait: only completed steps are skipped.
 * After a retry by hand the count starts again.
 */
export const triesAreCounted: Invariant = (history) => {
  const events = eventsByRun(history)
  const lost = lostGenerations(history)
  const failures = grouped(
    history.steps.filter(({ status }) => status === 'failed'),
    ({ runId, name }) => stepKey({ runId, step: name }),
  )
  const violations: Violation[] = []
  for (const [key, plan] of history.plans?.steps ?? []) {
    const failed = failures.get(key) ?? []
    if (plan.kind !== 'work' || failed.length <= plan.triesMax) continue
    const runId = key.slice(0, key.indexOf('/'))
    for (const round of roundsOf(events.get(runId) ?? [])) {
      const times = failed.filter(({ leaseGeneration }) => isWithin(round, leaseGeneration)).length
      const most = plan.triesMax + round.callsAgain + (plan.isLeg ? round.waits : 0)
      if (times > most) violations.push({ invariant: 'I28', runId, what: `${key} failed ${times} times, at most ${most} are allowed` })
    }
  }
  for (const note of history.ledger.gaveUp ?? []) {
    const plan = history.plans?.steps.get(stepKey(note))
    const round = roundsOf(events.get(note.runId) ?? []).find((one) => isWithin(one, note.generation))
    if (plan?.kind !== 'work' || note.why !== 'own' || !round) continue
    const times = failures.get(stepKey(note))?.filter(({ leaseGeneration }) => isWithin(round, leaseGeneration)).length ?? 0
    // Beside an open transaction an error is thrown before it is recorded, and the lease may be lost in between.
    const unrecorded = lost.has(`${note.runId}/${note.generation}`) ? 1 : 0
    if (times + unrecorded < plan.triesMax)
      violations.push({ invariant: 'I28', runId: note.runId, what: `${note.step} was given up after ${times} of ${plan.triesMax} tries` })
  }
  return violations
}

/** What happened to a run between two retries by hand. */
interface Round {
  /** Of its leases. */
  first: number
  last: number
  /** How often the job was called again without having parked. */
  callsAgain: number
  waits: number
}

function roundsOf(events: readonly ParsedEvent[]): Round[] {
  let round: Round = { first: 0, last: 0, callsAgain: 0, waits: 0 }
  const rounds = [round]
  for (const event of events) {
    if (isSentBack(event)) {
      round = { first: round.last + 1, last: round.last, callsAgain: 0, waits: 0 }
      rounds.push(round)
    }
    if (event.type === 'run:wait') round.waits++
    if (event.type === 'run:start') round.last = event.payload.generation ?? round.last
    if (callsAgain(event)) round.callsAgain++
  }
  return rounds
}

function isWithin({ first, last }: Round, generation: number): boolean {
  return first <= generation && generation <= last
}

function isSentBack({ type, payload }: ParsedEvent): boolean {
  return type === 'run:retry' && payload.generation === undefined
}

/** By its owner: a run that a reaper failed was lost, which does not count as an attempt. */
function isFailedAttempt({ type, payload }: ParsedEvent): boolean {
  return (type === 'run:retry' || type === 'run:fail') && payload.generation !== undefined
}

function callsAgain(event: ParsedEvent): boolean {
  return event.type === 'run:reclaim' || event.type === 'run:release' || (event.type === 'run:retry' && isFailedAttempt(event))
}
