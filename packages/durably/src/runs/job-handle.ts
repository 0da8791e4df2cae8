// JobHandle — a job seen from outside: trigger it, wait for it, look at its runs, all typed by its schemas.
import type { Codec } from '../model/codec.ts'
import { DurablyError } from '../model/errors.ts'
import type { Job } from '../model/job.ts'
import { jsonSchema } from '../model/json-schema.ts'
import { type Run, type RunRow, toRun } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import type { SignalArguments, Signals } from '../model/signal.ts'
import type { RunCommands, SignalOptions } from './run-commands.ts'
import type { RunReader } from './run-reader.ts'
import { type BatchTriggerInput, checkBatch, type TriggerDeps, type TriggerOptions, triggerAll } from './trigger.ts'
import { type WaitDeps, waitForRun } from './wait-for-run.ts'

export interface WaitOptions extends TriggerOptions {
  /** Milliseconds; the run goes on when it is over. */
  timeout?: number
}

export interface JobHandle<TName extends string, TInput, TOutput, TSignals extends Signals = Signals> {
  readonly name: TName
  /** Stores a run and returns it; a worker executes it. */
  trigger(input: TInput, options?: TriggerOptions): Promise<Run<TOutput>>
  /** Resolves with the output once the run has completed; rejects when it failed, was cancelled or the time is over. */
  triggerAndWait(input: TInput, options?: WaitOptions): Promise<{ id: string; output: TOutput }>
  /** Stores many runs in one transaction, all or none. */
  batchTrigger(inputs: BatchTriggerInput<TInput>[]): Promise<Run<TOutput>[]>
  getRun(id: string): Promise<Run<TOutput> | null>
  /** Its own runs, newest first; none when the filter names another job. */
  getRuns(filter?: RunFilter): Promise<Run<TOutput>[]>
  /** Sends a value to one of its runs, as `durably.signal` does; typed by the signals that the job declares. */
  signal(...args: SignalArguments<TSignals, SignalOptions>): Promise<void>
  /** JSON Schema (draft 2020-12) of its input; `null` when its schema library cannot produce one. */
  inputSchema(): Record<string, unknown> | null
}

export interface JobHandleDeps {
  trigger: TriggerDeps
  wait: WaitDeps
  reader: RunReader
  commands: RunCommands
  codec: Codec
  /** The caller is a job that this instance executes. */
  isInsideRun: () => boolean
}

export function jobHandle<TName extends string, TInput, TOutput>(
  job: Job & { name: TName },
  deps: JobHandleDeps,
): JobHandle<TName, TInput, TOutput> {
  const triggerOne = async (input: unknown, options: TriggerOptions = {}) => {
    const [run] = await triggerAll<TOutput>(deps.trigger, job, [{ payload: input, options }])
    if (!run) throw new Error('S2: create must answer for each run')
    return run
  }
  return {
    name: job.name,
    trigger: triggerOne,
    async triggerAndWait(input, { timeout, ...options } = {}) {
      if (timeout !== undefined && !(timeout > 0))
        throw new DurablyError('invalid_argument', `timeout must be a positive number of milliseconds, got ${timeout}`)
      if (options.tx !== undefined)
        throw new DurablyError('invalid_argument', 'triggerAndWait cannot wait for a run inside a transaction; use trigger({ tx })')
      deps.trigger.admit()
      if (deps.isInsideRun())
        throw new DurablyError('nested_wait', 'triggerAndWait in a job would hold its slot while the other one needs one; use ctx.invoke')
      const { id } = await triggerOne(input, options)
      return { id, output: outputOf<TOutput>(await waitForRun(deps.wait, id, timeout), deps.codec) }
    },
    async batchTrigger(inputs) {
      checkBatch(inputs)
      return triggerAll<TOutput>(deps.trigger, job, inputs)
    },
    async getRun(id) {
      const run = await deps.reader.getRun<TOutput>(id)
      return run?.jobName === job.name ? run : null
    },
    async getRuns(filter = {}) {
      const isAsked = [filter.jobName ?? job.name].flat().includes(job.name)
      return isAsked ? deps.reader.getRuns<TOutput>({ ...filter, jobName: job.name }) : []
    },
    signal: (runId, name, value, options) => deps.commands.signal(runId, name, value, options, job.name),
    inputSchema: () => jsonSchema(job.input),
  }
}

function outputOf<TOutput>(row: RunRow, codec: Codec): TOutput {
  const run = toRun<TOutput>(row, codec, 0)
  switch (run.status) {
    case 'completed':
      return run.output
    case 'failed':
      throw new DurablyError('run_failed', `run ${run.id} of job ${JSON.stringify(run.jobName)} failed: ${run.error}`, {
        runId: run.id,
        cause: run.failure,
      })
    default:
      throw new DurablyError('run_cancelled', `run ${run.id} of job ${JSON.stringify(run.jobName)} was cancelled`, { runId: run.id })
  }
}
