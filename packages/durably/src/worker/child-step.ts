// `ctx.trigger` and `ctx.invoke`: a child is found by the run and the step that triggered it, so it is triggered once.
import { DurablyError } from '../model/errors.ts'
import type { ChildRunOptions, Triggers } from '../model/job.ts'
import { PARENT, type Parent } from '../model/parent.ts'
import { isTerminal, type RunRow } from '../model/run.ts'
import { readForRun } from './read-for-run.ts'
import type { StepCall, StepOutcome, StepRunner } from './step-runner.ts'

type ChildTrigger = { concurrencyKey?: string; [PARENT]: Parent }

/** That the store is away is not the job's fault (R6): a child that cannot be triggered now is triggered later, or by somebody else. */
export async function triggerChild<TInput>(
  { parts }: StepRunner,
  stepName: string,
  job: Triggers<TInput, unknown>,
  input: TInput,
  { concurrencyKey }: ChildRunOptions,
): Promise<string> {
  const { id } = parts.execution.run
  const options: ChildTrigger = {
    ...(concurrencyKey !== undefined && { concurrencyKey }),
    [PARENT]: { runId: id, step: stepName },
  }
  return (await readForRun(parts, 'its child', () => job.trigger(input, options))).id
}

/** Its record is the child's output. */
export function invokeStep<TInput, TOutput>(
  steps: StepRunner,
  name: string,
  job: Triggers<TInput, TOutput>,
  input: TInput,
  options: ChildRunOptions,
): Promise<unknown> {
  const { store } = steps.parts
  return steps.step(name, async (call) => {
    let id: string
    try {
      id = await triggerChild(steps, name, job, input, options)
    } catch (error) {
      return steps.fail(call, error)
    }
    const child = await readForRun(steps.parts, 'its child', () => store.runs.get(id))
    if (!child)
      return steps.fail(call, new DurablyError('run_not_found', `run ${id} of job ${JSON.stringify(job.name)} is not in this database`))
    if (!isTerminal(child.status)) return { wait: { name, kind: 'child', dueAt: null } }
    return settle(steps, call, child)
  })
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

/** Names for calls that have none of their own: by job, then counted. */
export class ChildNames {
  readonly #counts = new Map<string, number>()

  next(verb: 'trigger' | 'invoke', jobName: string): string {
    const name = `${verb} ${jobName}`
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    return count === 1 ? name : `${name} ${count}`
  }
}
