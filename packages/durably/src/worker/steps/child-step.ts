// ChildSteps — `ctx.trigger` and `ctx.invoke` for all runs of a worker. A child is found by the run and the step that triggered it, so it is
// triggered once.
import { DurablyError } from '../../model/errors.ts'
import type { ChildRunOptions, Triggers } from '../../model/job.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import { labelsOf } from '../../model/labels.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import { PARENT, type Parent } from '../../store/parent.ts'
import { ChildQueue, type ChildQueueDeps } from './child-queue.ts'
import { obtainForRun } from './obtain-for-run.ts'
import type { StepCall, StepOutcome, StepRunner } from './step-runner.ts'

const CHILD_RUN_OPTIONS: KeysOf<ChildRunOptions> = { name: 1, concurrencyKey: 1, labels: 1 }

type ChildTrigger = { concurrencyKey?: string; [PARENT]: Parent }

function checkChild(job: unknown, options: ChildRunOptions): void {
  if (typeof (job as Triggers<never, unknown> | undefined)?.trigger !== 'function')
    throw new DurablyError(
      'invalid_argument',
      `ctx.trigger and ctx.invoke take a job as defineJob returned it, got ${JSON.stringify(job) ?? typeof job}`,
    )
  checkKeys('a child run', options, CHILD_RUN_OPTIONS)
}

/** It would wait for a child that waits for it. */
function checkKey({ holdKey, concurrencyKey: held }: RunRow, { concurrencyKey }: ChildRunOptions): void {
  if (holdKey && held !== null && held === concurrencyKey)
    throw new DurablyError(
      'invalid_argument',
      `ctx.invoke cannot wait for a run with concurrencyKey ${JSON.stringify(held)}, which this run holds until it ends (holdKey); give it another key, or none`,
    )
}

export class ChildSteps {
  readonly #queue: ChildQueue

  constructor(deps: ChildQueueDeps) {
    this.#queue = new ChildQueue(deps)
  }

  /** The child of this step, as it is now. The job's handle validates the input; the worker stores the run together with others. */
  async trigger<TInput>(
    { deps }: StepRunner,
    stepName: string,
    job: Triggers<TInput, unknown>,
    input: TInput,
    given: ChildRunOptions,
  ): Promise<RunRow> {
    checkChild(job, given)
    const { concurrencyKey, labels = {} } = given
    const { execution, store } = deps
    const { runId, token } = execution.owner.claim
    const queue = this.#queue
    let child: RunRow | null = null
    const options: ChildTrigger = {
      ...(concurrencyKey !== undefined && { concurrencyKey }),
      [PARENT]: {
        runId,
        token,
        step: stepName,
        labels: labelsOf(labels, execution.run.labels),
        // If the store refuses the child because the lease is lost, it also refuses the record of that failure.
        async create(run, runs) {
          // A handle of another instance may belong to another database.
          const created =
            runs === store.runs
              ? await queue.create(run)
              : await obtainForRun(deps, 'its child', async () => (await runs.create([run]))[0] ?? null)
          // An unavailable store is not the job's fault (R6): the next execution triggers the child.
          if (!created) execution.owner.lose('its child could not be stored')
          execution.throwIfInterrupted()
          if (!created) throw new Error('X1: a lost lease interrupts')
          child = created.run
          return created
        },
      },
    }
    await job.trigger(input, options)
    if (!child)
      throw new DurablyError(
        'run_not_found',
        `job ${JSON.stringify(job.name)} has triggered no run for step ${JSON.stringify(stepName)}; its trigger() must hand on the options that it is given`,
      )
    return child
  }

  /** Its record is the child's output. */
  async invoke<TInput, TOutput>(
    steps: StepRunner,
    call: StepCall,
    job: Triggers<TInput, TOutput>,
    input: TInput,
    options: ChildRunOptions,
  ): Promise<StepOutcome> {
    const { name } = call
    let child: RunRow
    try {
      checkKey(steps.deps.execution.run, options)
      child = await this.trigger(steps, name, job, input, options)
    } catch (error) {
      return steps.fail(call, error)
    }
    if (!isTerminal(child.status)) return { wait: { name, kind: 'child', dueAt: null } }
    return settle(steps, call, child)
  }
}

function settle(steps: StepRunner, call: StepCall, { id, jobName, status, output, error }: RunRow): Promise<StepOutcome> {
  if (status === 'completed') return steps.record(call, output)
  const what = `run ${id} of job ${JSON.stringify(jobName)}`
  const ended =
    status === 'failed'
      ? new DurablyError('run_failed', `${what} failed: ${error}`, { runId: id })
      : new DurablyError('run_cancelled', `${what} was cancelled`, { runId: id })
  return steps.fail(call, ended)
}
