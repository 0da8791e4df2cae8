// Invariants of steps: their records against what their functions did.
import { eventsByRun, grouped, type History, type Invariant, stepKey, stepsByRun, type Violation } from './history.ts'

/** I2b: at most one completed record per run and name. */
export const recordedOnce: Invariant = ({ steps }) => {
  const seen = new Set<string>()
  const violations: Violation[] = []
  for (const { runId, name, status } of steps) {
    if (status !== 'completed') continue
    const key = `${runId}/${name}`
    if (seen.has(key)) violations.push({ invariant: 'I2b', runId, what: `step ${JSON.stringify(name)} is recorded twice` })
    seen.add(key)
  }
  return violations
}

/** I2c: a step's function runs at most once per lease, and never under a lease that began after the record. */
export const noStepRunsAgain: Invariant = ({ steps, ledger }) => {
  const recordedBy = new Map<string, number>()
  for (const step of steps) if (step.status === 'completed') recordedBy.set(`${step.runId}/${step.name}`, step.leaseGeneration)
  const seen = new Set<string>()
  const violations: Violation[] = []
  for (const { runId, step, generation } of ledger.effects) {
    const once = `${runId}/${step}/${generation}`
    if (seen.has(once))
      violations.push({ invariant: 'I2c', runId, what: `step ${JSON.stringify(step)} ran twice in generation ${generation}` })
    seen.add(once)
    const recorder = recordedBy.get(`${runId}/${step}`)
    if (recorder !== undefined && generation > recorder) {
      violations.push({
        invariant: 'I2c',
        runId,
        what: `step ${JSON.stringify(step)}, recorded by generation ${recorder}, ran again in ${generation}`,
      })
    }
  }
  return violations
}

/** I4: what an owner wrote counts once, also when it was sent twice: one start of a step per lease, in a growing order of records. */
export const writtenOnce: Invariant = (history) => {
  const violations: Violation[] = []
  for (const [runId, events] of eventsByRun(history)) {
    const seen = new Set<string>()
    for (const { seq, type, payload } of events) {
      if (type !== 'step:start') continue
      const start = `${payload.stepName}/${payload.generation}`
      if (seen.has(start)) violations.push({ invariant: 'I4', runId, what: `seq ${seq}: the start of ${start} is logged twice` })
      seen.add(start)
    }
  }
  return violations
}

/** I7: `current_step_index` is the number of completed steps; every step event refers to a recorded row, and the reverse. */
export const indexCountsRecords: Invariant = (history) => {
  const violations: Violation[] = []
  const events = eventsByRun(history)
  const byRun = stepsByRun(history)
  for (const run of history.runs) {
    const steps = byRun.get(run.id) ?? []
    const completed = steps.filter((step) => step.status === 'completed').length
    if (run.currentStepIndex !== completed) {
      violations.push({
        invariant: 'I7',
        runId: run.id,
        what: `current_step_index is ${run.currentStepIndex}, completed steps are ${completed}`,
      })
    }
    const logged = (events.get(run.id) ?? [])
      .filter(({ type }) => type === 'step:complete' || type === 'step:fail')
      .map(({ payload }) => payload.stepId)
    const ids = steps.map((step) => step.id)
    if (logged.toSorted().join() !== ids.toSorted().join())
      violations.push({ invariant: 'I7', runId: run.id, what: `step events ${logged} do not match the step rows ${ids}` })
  }
  return violations
}

/** I10: without faults every step runs exactly once for each of its records, and no run is taken back. */
export const exactlyOnceWithoutFaults: Invariant = (history) => {
  if (!history.faultFree) return []
  const violations: Violation[] = []
  const entered = grouped(history.ledger.effects, stepKey)
  // `reconcile` may have answered instead of it.
  const answered = new Set(history.ledger.answers?.map(stepKey))
  const recorded = grouped(history.steps, ({ runId, name }) => stepKey({ runId, step: name }))
  for (const [key, [step, ...others]] of recorded) {
    if (!step || !isFunction(history, key) || answered.has(key)) continue
    const records = others.length + 1
    const times = entered.get(key)?.length ?? 0
    // A step whose signal was aborted while it executed may have no record. The same holds for one whose result cannot be stored, if the time of
    // its run was over before it could be recorded as failed.
    const mayLackRecord = entered.get(key)?.filter((effect) => effect.cutShort || effect.tookPlace).length ?? 0
    if (records > times || records < times - mayLackRecord) {
      const what = `step ${JSON.stringify(step.name)} ran ${times} times without a fault, and has ${records} records`
      violations.push({ invariant: 'I10', runId: step.runId, what })
    }
  }
  for (const { runId, type } of history.events) {
    if (type === 'run:reclaim') violations.push({ invariant: 'I10', runId, what: 'the run was taken back without a fault' })
  }
  return violations
}

/** Where nothing is known of the plan, every step is one. */
function isFunction({ plans }: History, key: string): boolean {
  return (plans?.steps.get(key)?.kind ?? 'work') === 'work'
}
