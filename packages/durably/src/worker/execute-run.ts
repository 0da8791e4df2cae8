// The life of one execution: announce → run the job → judge → settle → tell.
import { DurablyError, hasCode } from '../model/errors.ts'
import { failureOf } from '../model/failure.ts'
import { type Job, validate } from '../model/job.ts'
import { type FailureReason, readColumn } from '../model/run.ts'
import type { StepRow } from '../model/step.ts'
import { decodeStreams } from '../model/stream.ts'
import type { EndingVerb } from '../store/owner-write.ts'
import { readCompletedSteps } from './claim-runs.ts'
import type { Execution } from './execution.ts'
import { RunningJobContext } from './job-context.ts'
import type { WorkerKit } from './kit.ts'

type Outcome = { returned: unknown } | { threw: unknown; failedStepName: string }

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
  completedSteps: readonly StepRow[]
}

/** What the job starts from; `null` when it could not be had while the lease lasted. */
async function readGiven(kit: WorkerKit, { run }: Execution): Promise<Given | { payload: undefined; unreadable: unknown } | null> {
  try {
    const payload = readColumn(run, 'payload', kit.codec)
    const completedSteps = await readCompletedSteps(kit, run)
    return completedSteps && { payload, completedSteps }
  } catch (error) {
    if (!hasCode(error, 'row_unreadable')) throw error
    return { payload: undefined, unreadable: error }
  }
}

async function runJob(kit: WorkerKit, execution: Execution, job: Job, { payload, completedSteps }: Given): Promise<Outcome> {
  const ctx = new RunningJobContext({ ...kit, execution, completedSteps })
  try {
    await execution.assureLease()
    return { returned: await job.run(ctx, payload) }
  } catch (error) {
    return { threw: error, failedStepName: ctx.failedStepName(error) }
  }
}

/** How the run shall end; `null` when it is no longer ours to end. */
async function judge(kit: WorkerKit, execution: Execution, job: Job, outcome: Outcome): Promise<EndingVerb | null> {
  switch (execution.interrupted?.code) {
    case 'lease_lost':
      return null
    case 'cancel_requested':
      return { type: 'abandon' }
    case 'shutdown':
      if ('threw' in outcome || execution.turnedAway) return { type: 'release' }
  }
  if ('threw' in outcome) return failure(outcome.threw, outcome.failedStepName)
  try {
    const output = job.output
      ? await validate(job.output, outcome.returned, 'output_invalid', `output of job ${JSON.stringify(job.name)}`)
      : outcome.returned
    return { type: 'complete', output: kit.codec.encode(output, `the output of job ${JSON.stringify(job.name)}`) }
  } catch (error) {
    return failure(error, '')
  }
}

function failure(error: unknown, failedStepName: string): EndingVerb {
  const kept = failureOf(error)
  // Bounded and plain already; the limit for values is not for errors.
  return { type: 'fail', error: kept.message, failure: JSON.stringify(kept), reason: reasonOf(error), failedStepName }
}

function reasonOf(error: unknown): FailureReason {
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
    case 'release':
      return emitter.emit({ type: 'run:release', ...facts })
    case 'abandon':
      return emitter.emit({ type: 'run:cancel', ...facts })
  }
}
