// The life of one execution: announce → run the job → judge → settle.
import { nextTurn } from '../model/env.ts'
import { DurablyError, hasCode } from '../model/errors.ts'
import { failureOf } from '../model/failure.ts'
import { type Job, validate } from '../model/job.ts'
import { type FailureReason, readColumn } from '../model/run.ts'
import type { StepRow } from '../model/step.ts'
import { decodeStreams } from '../model/stream.ts'
import { TRANSITIONS } from '../model/transitions.ts'
import type { Claim, EndingVerb } from '../store/owner-write.ts'
import { allOf, pagesOf } from '../store/pages-of.ts'
import type { RowPage } from '../store/row-page.ts'
import { delayOf } from './delay-of.ts'
import type { Execution } from './execution.ts'
import type { NotAwaited } from './job-wait.ts'
import { type LimitCode, limitsFor, timeoutOf } from './lazy-limits.ts'
import { untilLeaseIsOver } from './lease/until-lease-is-over.ts'
import { type JobContextDeps, RunningJobContext } from './steps/job-context.ts'
import type { WorkerDeps } from './worker-deps.ts'

type Outcome = { returned: unknown } | { threw: unknown; failedStepName: string } | { misfit: unknown } | NotAwaited

/** `onEnding`: the job is done, and how it ended is about to be written. */
export async function executeRun(deps: JobContextDeps, execution: Execution, onEnding: () => void): Promise<void> {
  const { run, owner } = execution
  const job = deps.jobs.get(run.jobName)
  if (!job) return
  const reading = readGiven(deps, execution, job)
  const given = reading instanceof Promise ? await reading : reading
  if (!given) {
    owner.loseToAnother('its steps or limits could not be read')
    return deps.report(leaseLost(execution), run.id)
  }
  deps.runEvents.emit('run:start', () => ({
    run: 'unreadable' in given ? { ...run, payload: null } : run,
    payload: { workerId: run.workerId },
  }))
  for (const { stepName, kept } of decodeStreams(run.streams))
    deps.runEvents.emit('stream:reset', () => ({ run, payload: { stepName, to: kept } }))
  const outcome = 'unreadable' in given ? { threw: given.unreadable, failedStepName: '' } : await checkAndRun(deps, execution, job, given)
  if (execution.limits) await execution.stopTime(execution.limits)
  const closed = execution.close('threw' in outcome)
  if (closed) await closed
  const judging = judge(deps, execution, job, outcome)
  let ending = judging instanceof Promise ? await judging : judging
  let isWritten = false
  onEnding()
  try {
    if (ending) isWritten = await owner.write(ending)
  } catch (error) {
    // An output or an error that the database cannot store becomes a failure that says so.
    const instead = failure(deps, error, ending?.type === 'fail' ? ending.failedStepName : '')
    isWritten = await owner.write(instead)
    ending = instead
  }
  execution.heartbeat.stop()
  if (!isWritten && !(ending && owner.mayBeTaken && givesBack(ending))) deps.report(leaseLost(execution), run.id)
}

/** The ending made the run claimable. Then its new owner may have it because the write took effect, and only the answer was lost. */
function givesBack({ type }: EndingVerb): boolean {
  return TRANSITIONS[type].to === 'pending'
}

/** The lost lease is why the end was not written, whatever other reason to stop came first. */
function leaseLost({ run, interrupted }: Execution): DurablyError {
  return interrupted?.code === 'lease_lost' ? interrupted : new DurablyError('lease_lost', `the lease of run ${run.id} is lost`)
}

interface Given {
  payload: unknown
  steps: readonly StepRow[]
  /** Undefined if the run has none. */
  limits: LimitCode | undefined
}

/** What the job starts from; `null` when it could not be read while the lease lasted. */
function readGiven(deps: WorkerDeps, { run, owner }: Execution, job: Job): Given | Unreadable | Promise<Given | Unreadable | null> {
  try {
    const payload = readColumn(run, 'payload', deps.codec)
    const steps = readSteps(deps, owner.claim)
    const limits = limitsFor(deps, run, job)
    if (limits instanceof Promise)
      return Promise.all([steps, limits]).then(([steps, limits]) => steps && limits && { payload, steps, limits }, unreadable)
    if (steps instanceof Promise) return steps.then((steps) => steps && { payload, steps, limits }, unreadable)
    return { payload, steps, limits }
  } catch (error) {
    return unreadable(error)
  }
}

/** What earlier executions recorded; `null` when it could not be read while the lease lasted, or the run has another owner. */
function readSteps(deps: WorkerDeps, claim: Claim): readonly StepRow[] | Promise<readonly StepRow[] | null> {
  if (claim.generation === 1) return []
  const { store, turn } = deps
  const read = async (page: RowPage) => {
    if (turn.isUsedUp()) await turn.yield()
    return untilLeaseIsOver(deps, () => store.steps.listOwned(claim, page))
  }
  return allOf(pagesOf(read))
}

interface Unreadable {
  payload: undefined
  unreadable: unknown
}

function unreadable(error: unknown): Unreadable {
  if (!hasCode(error, 'row_unreadable')) throw error
  return { payload: undefined, unreadable: error }
}

/** An input that was stored by a process without the job is checked here, each time that the run is executed. */
function checkAndRun(deps: JobContextDeps, execution: Execution, job: Job, given: Given): Promise<Outcome> {
  return execution.run.unchecked ? runChecked(deps, execution, job, given) : runJob(deps, execution, job, given)
}

async function runChecked(deps: JobContextDeps, execution: Execution, job: Job, given: Given): Promise<Outcome> {
  try {
    const payload = await validate(job.input, given.payload, 'invalid_input', () => `input of job ${JSON.stringify(job.name)}`)
    return runJob(deps, execution, job, { ...given, payload })
  } catch (misfit) {
    return { misfit }
  }
}

/** The job function may go on when it is not awaited any more; its outcome is ignored then. */
function runJob(deps: JobContextDeps, execution: Execution, job: Job, { payload, steps, limits }: Given): Promise<Outcome> {
  const ctx = new RunningJobContext(deps, execution, steps)
  limits?.limitTime(deps.env, execution, timeoutOf('timeout', job.timeout))
  return new Promise((resolve) => {
    const threw = (error: unknown) => resolve({ threw: error, failedStepName: ctx.failedStepName(error) })
    const scope = { execution, stepName: null, isTransaction: false }
    const call = () => deps.stepScope.run(scope, () => job.run(ctx, payload))
    execution.whenNotAwaited(resolve)
    // In a microtask of its own, so that errors have the stack of the job without that of the engine, which is also cheaper.
    void READY.then(() => {
      try {
        const renewed = execution.assureLease()
        Promise.resolve(renewed ? renewed.then(call) : call()).then((returned) => resolve({ returned }), threw)
      } catch (error) {
        threw(error)
      }
    })
  })
}

const READY = Promise.resolve()

/** How the run shall end; `null` when the lease is lost and another owner ends it. */
function judge(deps: WorkerDeps, execution: Execution, job: Job, outcome: Outcome): EndingVerb | null | Promise<EndingVerb> {
  switch (execution.interrupted?.code) {
    case 'lease_lost':
      return null
    case 'cancel_requested':
      return { type: 'abandon' }
    case 'parked':
      return { type: 'park', ...execution.parking.ending }
    case 'timeout':
      return failureOrRetry(deps, execution, job, execution.interrupted)
    case 'shutdown':
      if ('notAwaited' in outcome && outcome.notAwaited === 'parked') return { type: 'park', ...execution.parking.ending }
      if (!('returned' in outcome) || execution.hasRejectedCall) return { type: 'release' }
  }
  if ('notAwaited' in outcome) throw new Error(`X1: nothing interrupted run ${execution.run.id}`)
  // Another attempt would not change it.
  if ('misfit' in outcome) return { ...failure(deps, outcome.misfit, ''), reason: 'invalid_input' }
  if ('threw' in outcome) return failureOrRetry(deps, execution, job, outcome.threw, outcome.failedStepName)
  if (job.output === undefined) return completion(deps, execution, job, outcome.returned)
  return validatedCompletion(deps, execution, job, job.output, outcome.returned)
}

function completion(deps: WorkerDeps, execution: Execution, job: Job, output: unknown): EndingVerb | Promise<EndingVerb> {
  try {
    return { type: 'complete', output: deps.codec.encode(output, `the output of job ${JSON.stringify(job.name)}`) }
  } catch (error) {
    return failureOrRetry(deps, execution, job, error)
  }
}

async function validatedCompletion(
  deps: WorkerDeps,
  execution: Execution,
  job: Job,
  schema: NonNullable<Job['output']>,
  returned: unknown,
): Promise<EndingVerb> {
  try {
    const output = await validate(schema, returned, 'output_invalid', () => `output of job ${JSON.stringify(job.name)}`)
    return completion(deps, execution, job, output)
  } catch (error) {
    return failureOrRetry(deps, execution, job, error)
  }
}

/** The next attempt, if the policy of the job allows one (model/retry-policy.ts) and it would start before the deadline. */
async function failureOrRetry(deps: WorkerDeps, execution: Execution, job: Job, error: unknown, failedStepName = ''): Promise<EndingVerb> {
  const ending = failure(deps, error, failedStepName)
  const { attempt } = execution
  const { deadlineAt } = execution.run
  const delayMs = job.retry ? delayOf(deps, execution.run.id, job.retry, attempt, error) : 'dead'
  if (delayMs === 'dead') return ending
  const runAt = (await execution.clock.storeNow()) + delayMs
  // A step that was left behind while it asked for the time, too, has a turn of the event loop to say until when it waits: that is stored below.
  if (execution.willStopWaiting) await nextTurn(deps.env)
  if (deadlineAt !== null && deadlineAt <= runAt) return ending
  return {
    type: 'retryLater',
    runAt: Math.ceil(runAt),
    error: ending.error,
    failure: ending.failure,
    attempt,
    waitingFor: execution.remainingWaits,
  }
}

function failure({ store }: WorkerDeps, error: unknown, failedStepName: string): EndingVerb & { type: 'fail' } {
  const kept = failureOf(error, store)
  // Its size is bounded already, so the limit for values does not apply.
  return { type: 'fail', error: kept.message, failure: JSON.stringify(kept), reason: reasonOf(error), failedStepName }
}

function reasonOf(error: unknown): FailureReason {
  if (hasCode(error, 'timeout')) return 'timeout'
  if (hasCode(error, 'output_invalid')) return 'output_invalid'
  if (hasCode(error, 'row_unreadable')) return 'unreadable'
  return 'error'
}
