// Judge — what is wrong with how a run went, compared with the undisturbed one. Sentences for the person who wrote the job.
import { jsonCodec } from '../../model/codec.ts'
import type { StepRow } from '../../model/step.ts'
import { AssertionFailed, deepEqual } from '../assert.ts'
import { checkInvariants } from '../invariants/index.ts'
import type { Evidence, Target } from './crash-world.ts'

const ENDINGS = new Set(['run:complete', 'run:fail', 'run:cancel'])

/** I9: a throw is judged against the undisturbed run instead: the job function itself may throw, not only a step. I32: nobody knows its time. */
const NOT_JUDGED = new Set(['I9', 'I32'])

const OUTPUT_HINT =
  'The steps returned the same, so something outside of them made the difference: a variable that a step function changes, the clock, ' +
  'chance. What a job returns must follow from its input and from what its steps return; put the rest into a step.'

const ASKED_HINT = 'Which steps a job runs may depend on its input and on what steps returned, on nothing else.'

export interface Problem {
  problem: string
  /** What the author of the job can do about it. */
  hint: string | null
}

export function judge(undisturbed: Evidence, disturbed: Evidence, target: Target): Problem[] {
  return [...endingProblems(undisturbed, disturbed, target), ...recordProblems(disturbed)]
}

/** What must hold in every world, also in the undisturbed one. */
export function recordProblems(evidence: Evidence): Problem[] {
  const violations = [...evidence.audit, ...checkInvariants(evidence.history)].filter(({ invariant }) => !NOT_JUDGED.has(invariant))
  const broken = new Set(violations.map(({ invariant, what }) => `${what} (${invariant})`))
  return [...eventProblems(evidence), ...askedProblems(evidence), ...plain(...broken)]
}

function plain(...problems: string[]): Problem[] {
  return problems.map((problem) => ({ problem, hint: null }))
}

function endingProblems(undisturbed: Evidence, disturbed: Evidence, target: Target): Problem[] {
  const { run } = disturbed
  const expected = isCancelled(disturbed, target) ? 'cancelled' : undisturbed.run.status
  if (run.status !== expected) {
    const why = run.error === null ? '' : ` with ${JSON.stringify(run.error)}`
    return plain(`the run ended as ${run.status}${why}, expected was ${expected}`)
  }
  if (run.status === 'failed' && run.error !== undisturbed.run.error)
    return plain(`the run failed with ${JSON.stringify(run.error)}, undisturbed it fails with ${JSON.stringify(undisturbed.run.error)}`)
  if (run.status !== 'completed' || !sameRecords(undisturbed, disturbed)) return []
  const difference = outputDifference(disturbed, undisturbed)
  return difference === null ? [] : [{ problem: `the output is not the undisturbed one: ${difference}`, hint: OUTPUT_HINT }]
}

/** `completed` wins over a cancel that comes when the job has already returned. */
function isCancelled({ cancelled }: Evidence, { boundary }: Target): boolean {
  return cancelled === 'cancelled' || (cancelled === 'requested' && !boundary.endsRun)
}

function eventProblems({ run, history }: Evidence): Problem[] {
  const types = history.events.filter(({ runId }) => runId === run.id).map(({ type }) => type)
  const endings = types.filter((type) => ENDINGS.has(type))
  const last = types.at(-1)
  if (endings.length === 1 && endings[0] === last) return []
  return plain(`the event log must have one ending, as its last event; it has ${endings.join(', ') || 'none'}, and ends with ${last}`)
}

/** Where a step threw, another way through the job is legal: a step that failed runs again. */
function askedProblems({ run, asked, history }: Evidence): Problem[] {
  if (run.status !== 'completed' || history.ledger.effects.some(({ outcome }) => outcome === 'threw')) return []
  const last = asked.findLast(({ runId, generation }) => runId === run.id && generation === run.leaseGeneration)
  const forgotten = completedSteps({ run, history }).filter(({ name }) => !last?.steps.has(name))
  return forgotten.map(({ name }) => ({
    problem: `step ${JSON.stringify(name)} was recorded, but the execution that ended the run did not ask for it`,
    hint: ASKED_HINT,
  }))
}

/** A job that is run again from its records alone returns what it returned the first time. */
export function replayProblems(original: Evidence, replayed: Evidence): Problem[] {
  const { run } = replayed
  if (run.status !== 'completed') return plain(`run again from its records it ended as ${run.status} with ${JSON.stringify(run.error)}`)
  const difference = outputDifference(original, replayed)
  return difference === null ? [] : [{ problem: `the output is not what follows from the records: ${difference}`, hint: OUTPUT_HINT }]
}

/** A step that throws may do so once and not again, so only a run whose steps all returned can be run again from its records. */
export function isReplayable({ run, history }: Evidence): boolean {
  return run.status === 'completed' && !history.steps.some(({ runId, status }) => runId === run.id && status === 'failed')
}

export function sameRecords(a: Evidence, b: Evidence): boolean {
  const values = (evidence: Evidence) =>
    JSON.stringify(
      completedSteps(evidence)
        .map(({ name, output }) => [name, output])
        .sort(),
    )
  return values(a) === values(b)
}

export function completedSteps({ run, history }: Pick<Evidence, 'run' | 'history'>): StepRow[] {
  return history.steps.filter(({ runId, status }) => runId === run.id && status === 'completed')
}

function outputDifference(actual: Evidence, expected: Evidence): string | null {
  const { decode } = jsonCodec()
  try {
    deepEqual(decode(actual.run.output), decode(expected.run.output), 'output')
    return null
  } catch (error) {
    if (error instanceof AssertionFailed) return error.message
    throw error
  }
}
