// What must hold in every store at every moment; looked at after each case (research/reliability.md §6).
import { archivedUpTo } from '../../archive/log-ref.ts'
import { keyInUse } from '../../model/key-in-use.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import type { Store } from '../../store/store.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { unexplainedGaps } from '../invariants/event-gaps.ts'

export async function checkCoherence(store: Store): Promise<void> {
  const runs = await store.runs.list({})
  checkKeys(runs)
  for (const run of runs) {
    checkRow(run)
    await checkEvents(store, run)
    await checkSteps(store, run)
  }
}

/** I1b, I12: one run has a concurrency key, an idempotency key one run, and so has a step that triggers one. */
function checkKeys(runs: RunRow[]): void {
  const inUse = runs.flatMap((run) => keyInUse(run) ?? [])
  equal(new Set(inUse).size, inUse.length, 'I1b: runs that have a concurrency key')
  const keys = runs.flatMap((run) => (run.idempotencyKey === null ? [] : JSON.stringify([run.jobName, run.idempotencyKey])))
  equal(new Set(keys).size, keys.length, 'I12: runs per idempotency key')
  const steps = runs.flatMap((run) => (run.parentStep === null ? [] : JSON.stringify([run.parentRunId, run.parentStep])))
  equal(new Set(steps).size, steps.length, 'I12: children per step')
}

/** I13: only a running run has a lease; only a finished one an end. */
function checkRow(run: RunRow): void {
  equal(run.leaseOwner !== null, run.status === 'running', `I13: the owner of a ${run.status} run`)
  equal(run.leaseExpiresAt !== null, run.status === 'running', `I13: the lease of a ${run.status} run`)
  equal(run.finishedAt !== null, isTerminal(run.status), `the end of a ${run.status} run`)
  equal(run.startedAt !== null, run.leaseGeneration > 0, 'a run has started once it was claimed')
}

/** I4: `seq` goes from 1 up to the counter; I6: an owner's event carries the generation that started last. */
async function checkEvents(store: Store, run: RunRow): Promise<void> {
  const events = await store.events.list(run.id)
  equal((await store.events.heads([run.id])).get(run.id), run.lastEventSequence, 'I4: the head of the event log')
  if (!store.eventLog) return deepEqual(events, [], 'events that are not kept')
  const archived = archivedUpTo(run.logRef)
  deepEqual(
    unexplainedGaps(events, run.lastEventSequence).filter((seq) => seq > archived),
    [],
    'I4: missing in the event log',
  )
  deepEqual(
    events.filter(({ seq }) => seq <= archived),
    [],
    'events that are in a file too',
  )
  // The starts in files are not counted here.
  const starts = events.filter(({ type }) => type === 'run:start').length
  let generation = archived > 0 ? run.leaseGeneration - starts : 0
  for (const event of events) {
    const payload = JSON.parse(event.payload) as { generation?: number }
    if (event.type === 'run:start') equal(payload.generation, ++generation, 'I14: every start has the next generation')
    ok((payload.generation ?? generation) === generation, `I6: ${event.type} was written by the owner of its time`)
  }
  equal(run.leaseGeneration, generation, 'I14: the generation counts the starts')
}

/** I2b, I7: a step completes once, and the index counts the completed ones. */
async function checkSteps(store: Store, run: RunRow): Promise<void> {
  const completed = (await store.steps.list(run.id)).filter(({ status }) => status === 'completed')
  equal(new Set(completed.map((step) => step.name)).size, completed.length, 'I2b: a step completes once')
  equal(run.currentStepIndex, completed.length, 'I7: currentStepIndex counts completed steps')
}
