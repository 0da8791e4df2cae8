// The life of one execution: announce → run the job → judge → settle → tell.
import { iso } from '../model/env.ts'
import { DurablyError, hasCode } from '../model/errors.ts'
import { failureOf } from '../model/failure.ts'
import { type Job, validate } from '../model/job.ts'
import { type FailureReason, readColumn } from '../model/run.ts'
import type { StepRow } from '../model/step.ts'
import { decodeStreams } from '../model/stream.ts'
import type { EndingVerb } from '../store/owner-write.ts'
import { readSteps } from './claim-runs.ts'
import { delayOf } from './delay-of.ts'
import type { Dismissal, Execution } from './execution.ts'
import { RunningJobContext } from './job-context.ts'
import type { WorkerKit } from './kit.ts'
import { limitTime } from './time-limit.ts'

type Outcome = { returned: unknown } | { threw: unknown; failedStepName: string } | { dismissed: Dismissal }

export async function executeRun(kit: WorkerKit, execution: Execution, job: Job): Promise<void> {
  const { run } = execution
  const given = await readGiven(kit, execution)
  if (!given) return
  kit.emitter.emit({ type: 'run:start', runId: run.id, jobName: run.jobName, payload: given.payload })
  for (const { stepName, kept } of decodeStreams(run.streams))
    kit.emitter.emit({ type: 'stream:reset', runId: run.id, jobName: run.jobName, stepName, to: kept })
  const outcome = 'unreadable' in given ? { threw: given.unreadable, failedStepName: '' } : await runJob(kit, execution, job, given)
  await execution.close()
  const ending = await judge(kit, execution, job, outcome)
  const settled = ending && (await settle(execution, ending))
  execution.heartbeat.stop()
  if (settled) tell(kit, execution, settled)
  else kit.report(execution.interrupted ?? new DurablyError('lease_lost', `the lease of run ${run.id} is lost`), run.id)
}

interface Given {
  payload: unknown
  steps: readonly StepRow[]
}

/** What the job starts from; `null` when it could not be had while the lease lasted. */
async function readGiven(kit: WorkerKit, { run }: Execution): Promise<Given | { payload: undefined; unreadable: unknown } | null> {
  try {
    const payload = readColumn(run, 'payload', kit.codec)
    const steps = await readSteps(kit, run)
    return steps && { payload, steps }
  } catch (error) {
    if (!hasCode(error, 'row_unreadable')) throw error
    return { payload: undefined, unreadable: error }
  }
}

async function runJob(kit: WorkerKit, execution: Execution, job: Job, { payload, steps }: Given): Promise<Outcome> {
  const ctx = new RunningJobContext({ ...kit, execution, steps })
  const time = limitTime(kit.env, execution, job)
  try {
    await execution.assureLease()
    const returned = Promise.resolve(job.run(ctx, payload))
    // It may go on after it was dismissed; nobody listens to it then.
    returned.catch(() => {})
    return await Promise.race([returned.then((value) => ({ returned: value })), execution.dismissed.then((why) => ({ dismissed: why }))])
  } catch (error) {
    return { threw: error, failedStepName: ctx.failedStepName(error) }
  } finally {
    time.stop()
  }
}

/** How the run shall end; `null` when it is no longer ours to end. */
async function judge(kit: WorkerKit, execution: Execution, job: Job, outcome: Outcome): Promise<EndingVerb | null> {
  const failed = (error: unknown, failedStepName: string) => failureOrRetry(kit, execution, job, error, failedStepName)
  switch (execution.interrupted?.code) {
    case 'lease_lost':
      return null
    case 'cancel_requested':
      return { type: 'abandon' }
    case 'parked':
      return { type: 'park', ...execution.parking.ending }
    case 'timeout':
      return failed(execution.interrupted, '')
    case 'shutdown':
      if ('dismissed' in outcome && outcome.dismissed === 'parked') return { type: 'park', ...execution.parking.ending }
      if (!('returned' in outcome) || execution.turnedAway) return { type: 'release' }
  }
  if ('dismissed' in outcome) throw new Error(`X1: run ${execution.run.id} was dismissed without a reason to stop`)
  if ('threw' in outcome) return failed(outcome.threw, outcome.failedStepName)
  try {
    const output = job.output
      ? await validate(job.output, outcome.returned, 'output_invalid', `output of job ${JSON.stringify(job.name)}`)
      : outcome.returned
    return { type: 'complete', output: kit.codec.encode(output, `the output of job ${JSON.stringify(job.name)}`) }
  } catch (error) {
    return failed(error, '')
  }
}

/** P1, P2. A deadline that is over leaves no other attempt. */
function failureOrRetry(kit: WorkerKit, execution: Execution, job: Job, error: unknown, failedStepName: string): EndingVerb {
  const ending = failure(error, failedStepName)
  const { attempts, deadlineAt } = execution.run
  const attempt = attempts + 1
  const delayMs = job.retry ? delayOf(kit, execution.run.id, job.retry, attempt, error) : 'dead'
  if (delayMs === 'dead') return ending
  const runAt = execution.storeNow() + delayMs
  if (deadlineAt !== null && deadlineAt <= runAt) return ending
  return {
    type: 'retryLater',
    runAt: Math.ceil(runAt),
    error: ending.error,
    failure: ending.failure,
    attempt,
    waitingFor: execution.parking.remaining,
  }
}

function failure(error: unknown, failedStepName: string): EndingVerb & { type: 'fail' } {
  const kept = failureOf(error)
  // Bounded and plain already; the limit for values is not for errors.
  return { type: 'fail', error: kept.message, failure: JSON.stringify(kept), reason: reasonOf(error), failedStepName }
}

function reasonOf(error: unknown): FailureReason {
  if (hasCode(error, 'timeout')) return 'timeout'
  if (hasCode(error, 'output_invalid')) return 'output_invalid'
  if (hasCode(error, 'row_unreadable')) return 'unreadable'
  return 'error'
}

/** Writes the ending; one that the database cannot store becomes a failure that says so. */
async function settle({ owner }: Execution, ending: EndingVerb): Promise<EndingVerb | null> {
  try {
    return (await owner.write(ending)) ? ending : null
  } catch (error) {
    const instead = failure(error, '')
    return (await owner.write(instead)) ? instead : null
  }
}

function tell({ emitter, codec, env }: WorkerKit, { run }: Execution, ending: EndingVerb): void {
  const facts = { runId: run.id, jobName: run.jobName }
  switch (ending.type) {
    case 'complete':
      return emitter.emit({
        type: 'run:complete',
        ...facts,
        output: codec.decode(ending.output),
        duration: env.wall() - (run.startedAt ?? env.wall()),
      })
    case 'fail':
      return emitter.emit({ type: 'run:fail', ...facts, error: ending.error, failedStepName: ending.failedStepName })
    case 'retryLater':
      return emitter.emit({ type: 'run:retry', ...facts, error: ending.error, attempt: ending.attempt, runAt: iso(ending.runAt) })
    case 'park':
      return emitter.emit({ type: 'run:wait', ...facts, runAt: iso(ending.runAt) })
    case 'release':
      return emitter.emit({ type: 'run:release', ...facts })
    case 'abandon':
      return emitter.emit({ type: 'run:cancel', ...facts })
  }
}
