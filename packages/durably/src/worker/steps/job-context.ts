// JobContext — the `ctx` of a running job. It passes each step on: every kind has a file of its own, and the `StepRunner` has what all kinds
// share. Only `progress`, which is not a step, is done here.
import { type Duration, durationMs, timeMs } from '../../model/duration.ts'
import { DurablyError } from '../../model/errors.ts'
import type {
  ChildRunOptions,
  JobContext,
  Logger,
  StepFunction,
  StepOptions,
  StreamFunction,
  StreamOptions,
  TransactionOptions,
  Triggers,
  WaitForOptions,
} from '../../model/job.ts'
import { isoOrNull, type Progress, readColumn } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { Transaction } from '../../model/transaction.ts'
import type { Execution } from '../execution.ts'
import type { WorkerDeps } from '../worker-deps.ts'
import type { ChildSteps } from './child-step.ts'
import { functionStep } from './function-step.ts'
import { lazyStreamStep, otherStepsFor } from './lazy-steps.ts'
import { obtainForRun } from './obtain-for-run.ts'
import { sleepStep } from './sleep-step.ts'
import { plainStep } from './step-body.ts'
import { stepLogger } from './step-logger.ts'
import { type StepCall, StepRunner, type StepRunnerDeps } from './step-runner.ts'
import { waitForStep } from './wait-for-step.ts'
import { withoutUnhandledRejection } from './without-unhandled-rejection.ts'

/** What all runs of a worker share. */
export type JobContextDeps = WorkerDeps & Pick<StepRunnerDeps, 'children'>

type TransactionFunction<T> = (trx: Transaction) => Promise<T>

export class RunningJobContext implements JobContext {
  readonly runId: string
  readonly attempt: number
  readonly scheduledFor: string | null
  readonly #deps: JobContextDeps
  readonly #execution: Execution
  /** What earlier executions recorded, of completed and of failed steps. */
  readonly #rows: readonly StepRow[]
  #runner: StepRunner | null = null
  #logger: Logger | null = null
  #progress: Progress | undefined

  constructor(deps: JobContextDeps, execution: Execution, rows: readonly StepRow[]) {
    this.runId = execution.run.id
    this.attempt = execution.attempt
    this.scheduledFor = isoOrNull(execution.run.scheduledFor)
    this.#deps = deps
    this.#execution = execution
    this.#rows = rows
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }

  get log(): Logger {
    this.#logger ??= stepLogger(this.#deps.emitter, this.runId, () => this.#steps.currentStep())
    return this.#logger
  }

  get #steps(): StepRunner {
    this.#runner ??= new StepRunner({ execution: this.#execution, steps: this.#rows, ...this.#deps })
    return this.#runner
  }

  run<T>(name: string, optionsOrFn: StepOptions | StepFunction<T>, maybeFn?: StepFunction<T>): Promise<T> {
    const [options, fn] = optionsAndFunction<StepOptions, StepFunction<T>>(optionsOrFn, maybeFn)
    return withoutUnhandledRejection(functionStep(this.#steps, 'run', name, fn, () => plainStep(fn), options))
  }

  stream<T, TState>(name: string, optionsOrFn: StreamOptions | StreamFunction<T, TState>, maybeFn?: StreamFunction<T, TState>): Promise<T> {
    const [options, fn] = optionsAndFunction<StreamOptions, StreamFunction<T, TState>>(optionsOrFn, maybeFn)
    const bodyOf = () => lazyStreamStep({ stepName: name, ...this.#steps.deps }, fn)
    return withoutUnhandledRejection(functionStep(this.#steps, 'stream', name, fn, bodyOf, options))
  }

  transaction<T>(name: string, optionsOrFn: TransactionOptions | TransactionFunction<T>, maybeFn?: TransactionFunction<T>): Promise<T> {
    const [options, fn] = optionsAndFunction<TransactionOptions, TransactionFunction<T>>(optionsOrFn, maybeFn)
    const steps = this.#steps
    const work = async (call: StepCall) => (await otherStepsFor(steps)).transactionStep(steps, call, options, fn)
    return withoutUnhandledRejection(steps.step(name, work, { mayWait: false }))
  }

  sleep(name: string, duration: Duration): Promise<void> {
    const execution = this.#execution
    return withoutUnhandledRejection(
      sleepStep(
        this.#steps,
        name,
        async () => durationMs(`the duration of sleep ${quote(name)}`, duration) + (await execution.clock.storeNow()),
      ),
    )
  }

  sleepUntil(name: string, time: Date | number): Promise<void> {
    return withoutUnhandledRejection(sleepStep(this.#steps, name, async () => timeMs(`the time of sleep ${quote(name)}`, time)))
  }

  /** It resolves with the value of the signal. Its type is `never` because that alone can be assigned to the result of every overload. */
  waitFor(name: string, options: WaitForOptions = {}): Promise<never> {
    return withoutUnhandledRejection(waitForStep(this.#steps, name, options))
  }

  trigger<TInput>(job: Triggers<TInput, unknown>, input: TInput, options: ChildRunOptions = {}): Promise<{ id: string }> {
    const name = options.name ?? this.#steps.childNames.next('trigger', job?.name)
    return this.run(name, async () => {
      const children = await this.#children()
      return { id: (await children.trigger(this.#steps, name, job, input, options)).id }
    })
  }

  invoke<TInput, TOutput>(job: Triggers<TInput, TOutput>, input: TInput, options: ChildRunOptions = {}): Promise<TOutput> {
    const name = options.name ?? this.#steps.childNames.next('invoke', job?.name)
    return withoutUnhandledRejection(
      this.#steps.step(name, async (call) => (await this.#children()).invoke(this.#steps, call, job, input, options)),
    )
  }

  /** Loads the code of child runs when it is first needed, and tries again until the lease is over. */
  #children(): Promise<ChildSteps> {
    const { deps } = this.#steps
    return obtainForRun(deps, 'the code of child runs', deps.children)
  }

  /** A total or message that a call leaves out stays as it was, even if an earlier execution reported it. */
  progress(current: number, newTotal?: number, newMessage?: string): void {
    const { codec } = this.#deps
    const execution = this.#execution
    // The run is ending, or must stop. A function that still runs cannot know that, so its progress is ignored and not refused.
    if (execution.owner.sealed || execution.interrupted) return
    const last = this.#progress ?? (readColumn(execution.run, 'progress', codec) as Progress | undefined)
    const total = newTotal ?? last?.total
    const message = newMessage ?? last?.message
    const progress: Progress = { current, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
    if (!Number.isFinite(current) || (total !== undefined && !Number.isFinite(total))) {
      throw new DurablyError('invalid_argument', `progress needs finite numbers, got current ${current} and total ${total}`)
    }
    const encoded = codec.encode(progress, 'progress')
    this.#progress = progress
    execution.setProgress(progress, encoded)
  }

  /** The step whose error ended the job; empty when no step failed. */
  failedStepName(thrown: unknown): string {
    return this.#runner?.failed.nameFor(thrown) ?? ''
  }
}

/** The options may be left out. */
function optionsAndFunction<TOptions extends object, TFn>(optionsOrFn: TOptions | TFn, maybeFn: TFn | undefined): [TOptions, TFn] {
  return typeof optionsOrFn === 'function' ? [{} as TOptions, optionsOrFn as TFn] : [(optionsOrFn ?? {}) as TOptions, maybeFn as TFn]
}

function quote(name: string): string {
  return JSON.stringify(name)
}
