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
import { type BatchTriggerInput, checkBatch, type TriggerDeps, type TriggerOptions, triggerAll, triggerRow } from './trigger.ts'
import { type WaitDeps, waitForRun } from './wait-for-run.ts'

/** The options of `triggerAndWait`: those of `trigger`, and how long to wait. */
export interface WaitOptions extends TriggerOptions {
  /** How long to wait, in milliseconds. Then the call rejects with the code `wait_timeout`, and the run goes on. Default: for ever. */
  timeout?: number
}

/** A defined job, as `defineJob` returns it: triggers runs of the job and reads them, with the types of its schemas. */
export interface JobHandle<TName extends string, TInput, TOutput, TSignals extends Signals = Signals> {
  /** The name of the job. */
  readonly name: TName
  /** Checks the input, stores a run and returns it. A worker of any process that defines the job executes it. */
  trigger(input: TInput, options?: TriggerOptions): Promise<Run<TOutput>>
  /**
   * Triggers a run and waits for its output. Rejects if the run failed (`run_failed`) or was cancelled (`run_cancelled`), or if `timeout`
   * is over. Do not call it inside a job: use `ctx.invoke`.
   */
  triggerAndWait(input: TInput, options?: WaitOptions): Promise<{ id: string; output: TOutput }>
  /** Stores many runs in one transaction, all or none, and returns them in the same order. */
  batchTrigger(inputs: BatchTriggerInput<TInput>[]): Promise<Run<TOutput>[]>
  /** Reads a run of this job. Null if there is no such run, or if it belongs to another job. */
  getRun(id: string): Promise<Run<TOutput> | null>
  /** Reads the runs of this job that match, newest first. */
  getRuns(filter?: RunFilter): Promise<Run<TOutput>[]>
  /** Sends a value to a run of this job, like `durably.signal`, with the types of the signals that the job declares. */
  signal(...args: SignalArguments<TSignals, SignalOptions>): Promise<void>
  /** The JSON Schema (draft 2020-12) of the input, for forms and documentation. Null if the schema library cannot produce one. */
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
  const runOf = (row: RunRow) => toRun<TOutput>(row, deps.codec, deps.trigger.env.wall())
  const triggerOne = (payload: unknown, options: TriggerOptions = {}) => triggerRow(deps.trigger, job, { payload, options }, runOf)
  return {
    name: job.name,
    trigger: triggerOne,
    async triggerAndWait(input, { timeout, ...options } = {}) {
      if (timeout !== undefined && !(timeout > 0))
        throw new DurablyError('invalid_argument', `timeout must be a positive number of milliseconds, got ${timeout}`)
      if (options.tx !== undefined)
        throw new DurablyError('invalid_argument', 'triggerAndWait cannot wait for a run inside a transaction; use trigger({ tx })')
      deps.trigger.refuseInTransaction()
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
