// The life of one execution: announce → run the job → judge → settle → tell.
import { DurablyError } from '../model/errors.ts'
import { failureOf } from '../model/failure.ts'
import { type Job, validate } from '../model/job.ts'
import { type FailureReason, readColumn } from '../model/run.ts'
import type { StepRow } from '../model/step.ts'
import type { EndingVerb } from '../store/owner-write.ts'
import type { Execution } from './execution.ts'
import { RunningJobContext } from './job-context.ts'
import type { WorkerKit } from './kit.ts'

type Outcome = { returned: unknown } | { threw: unknown; failedStepName: string }

export async function executeRun(kit: WorkerKit, execution: Execution, job: Job, completedSteps: readonly StepRow[]): Promise<void> {
  const { emitter, codec, env } = kit
  const { run } = execution
  const payload = readPayload(kit, execution)
  emitter.emit({ type: 'run:start', runId: run.id, jobName: run.jobName, payload: payload.ok ? payload.value : undefined })
  const ctx = new RunningJobContext({
    execution,
    completedSteps,
    codec,
    emitter,
    env,
    stepScope: kit.stepScope,
    stepWrappers: kit.stepWrappers,
  })
  const outcome: Outcome = payload.ok ? await runJob(job, ctx, payload.value) : { threw: payload.error, failedStepName: '' }
  await execution.close()
  const ending = await judge(kit, execution, job, outcome)
  const settled = ending && (await settle(kit, execution, ending))
  execution.heartbeat.stop()
  if (settled) tell(kit, execution, settled)
  else kit.report(execution.interrupted ?? new DurablyError('lease_lost', `the lease of run ${run.id} is lost`), run.id)
}

function readPayload({ codec }: WorkerKit, { run }: Execution): { ok: true; value: unknown } | { ok: false; error: unknown } {
  try {
    return { ok: true, value: readColumn(run, 'payload', codec) }
  } catch (error) {
    return { ok: false, error }
  }
}

async function runJob(job: Job, ctx: RunningJobContext, payload: unknown): Promise<Outcome> {
  try {
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
  if ('threw' in outcome) return failure(kit, outcome.threw, outcome.failedStepName)
  try {
    const output = job.output
      ? await validate(job.output, outcome.returned, 'output_invalid', `output of job ${JSON.stringify(job.name)}`)
      : outcome.returned
    return { type: 'complete', output: kit.codec.encode(output, `the output of job ${JSON.stringify(job.name)}`) }
  } catch (error) {
    return failure(kit, error, '')
  }
}

function failure({ codec }: WorkerKit, error: unknown, failedStepName: string): EndingVerb {
  const kept = failureOf(error)
  return { type: 'fail', error: kept.message, failure: codec.encode(kept, 'failure') ?? '', reason: reasonOf(error), failedStepName }
}

function reasonOf(error: unknown): FailureReason {
  if (error instanceof DurablyError && error.code === 'output_invalid') return 'output_invalid'
  if (error instanceof DurablyError && error.code === 'row_unreadable') return 'unreadable'
  return 'error'
}

/** Writes the ending; one that the database cannot store becomes a failure that says so. */
async function settle(kit: WorkerKit, { owner }: Execution, ending: EndingVerb): Promise<EndingVerb | null> {
  try {
    return (await owner.write(ending)) ? ending : null
  } catch (error) {
    const instead = failure(kit, error, '')
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
