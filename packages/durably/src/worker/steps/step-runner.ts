// StepRunner — runs the steps of one execution and records what comes of them.
//   J1. A completed step is found by its name and never runs again; its recorded value is returned.
//   J2. A step starts without a read or a write, unless the lease is nearly over or the step is an effect (`effect: 'once'`: its function
//       must not run twice, so its start is stored before). Its end is one write, which renews the lease.
//   J3. What a step returns first is exactly what a replay returns: the decoded record, not the function's own object.
//   J4. A call is in flight until its result is recorded or it is known what it waits for. Until then the run neither ends nor parks. (A run
//       that parks leaves its worker until what it waits for has come, see parking.ts.)
//       There is one exception: if a step throws while a transaction is open beside it, the job gets the error before the failure is recorded.
//       The record is still written before every later one (O1).
import type { Emitter } from '../../events/emitter.ts'
import type { Codec } from '../../model/codec.ts'
import type { Duration } from '../../model/duration.ts'
import { type Env, iso, type Scope } from '../../model/env.ts'
import { DurablyError, hasCode } from '../../model/errors.ts'
import { type Failure, failureOf } from '../../model/failure.ts'
import type { Job, StepContext } from '../../model/job.ts'
import { checkName } from '../../model/name.ts'
import type { RetryPolicy } from '../../model/retry-policy.ts'
import type { SignalRow } from '../../model/signal.ts'
import { readStepColumn, type StepRow } from '../../model/step.ts'
import type { Wait } from '../../model/wait.ts'
import { wrapped } from '../../model/wrapper.ts'
import type { Store } from '../../store/store.ts'
import { delayOf } from '../delay-of.ts'
import type { Execution } from '../execution.ts'
import { stepLimits, timeoutOf } from '../lazy-limits.ts'
import type { Attach } from '../lease/owner.ts'
import { ChildNames } from './child-names.ts'
import { FailedSteps } from './failed-steps.ts'
import type { LazyChildSteps } from './lazy-steps.ts'
import { RunningStep } from './running-step.ts'
import type { StepScope, StepWrapper } from './step-wrapper.ts'

export interface StepRunnerDeps {
  execution: Execution
  /** The rows that earlier executions recorded, of completed and of failed steps. */
  steps: readonly StepRow[]
  env: Env
  codec: Codec
  emitter: Emitter
  /** Tells from which job function or step function a call comes. */
  stepScope: Scope<StepScope>
  stepWrappers: readonly StepWrapper[]
  store: Store
  children: LazyChildSteps
  /** By name. */
  jobs: ReadonlyMap<string, Job>
  leaseMs: number
  report: (error: unknown, runId?: string) => void
}

export interface StepCall {
  name: string
  /** The order in which the job called its steps, from 0. */
  index: number
  startedAt: number
  /** Aborts when the timeout of the step that it is nested in is over: then the call neither starts nor is recorded. */
  expired: AbortSignal | undefined
}

/** The result of a call: its value, or what the run has to wait for first. */
export type StepOutcome = { value: unknown } | { wait: Wait }

export class StepRunner {
  readonly deps: StepRunnerDeps
  readonly failed: FailedSteps
  /** What others have sent to this run for `ctx.waitFor` (no AbortSignals); read when the first of them is asked for. */
  sentSignals: Promise<SignalRow[]> | undefined
  readonly childNames = new ChildNames()
  readonly #completed: Map<string, StepRow>
  readonly #called = new Set<string>()
  /** The names of the steps whose function has not returned yet. */
  readonly #running: string[] = []

  constructor(deps: StepRunnerDeps) {
    this.deps = deps
    this.failed = new FailedSteps(deps.execution.run, deps.steps)
    this.#completed = new Map(deps.steps.filter(({ status }) => status === 'completed').map((step) => [step.name, step]))
    // What is recorded is not waited for any more (K3 in parking.ts).
    for (const name of this.#completed.keys()) deps.execution.parking.waits.delete(name)
  }

  /** One call of `ctx`: returns what is recorded under its name, or the result of `work` (J1, J4). */
  async step(name: string, work: (call: StepCall) => Promise<StepOutcome>, { mayWait = true } = {}): Promise<unknown> {
    const { execution, codec, stepScope } = this.deps
    const scope = stepScope.current()
    try {
      const call = this.#begin(name, mayWait, scope)
      const completed = this.#completed.get(name)
      if (completed) return readStepColumn(completed, 'output', codec)
      const outcome = await execution.track(name, work(call))
      return 'wait' in outcome ? execution.parking.wait(outcome.wait) : outcome.value
    } catch (error) {
      // The step function that made this call may catch the error and return something, which must not be recorded as its result.
      if (scope && execution.interrupted) scope.hasRejectedCall = true
      throw error
    }
  }

  #begin(name: string, mayWait: boolean, scope: StepScope | undefined): StepCall {
    const { execution, env } = this.deps
    if (scope?.isTransaction)
      throw new DurablyError(
        'transaction_open',
        `step ${JSON.stringify(name)} was called inside transaction ${JSON.stringify(scope.stepName)}; call it before or after`,
      )
    // Job code may call the `ctx` of one run inside a step of another run. That step is not around this one.
    const expired = scope?.execution === execution ? scope.expired : undefined
    // Closed: the job function has ended.
    execution.throwIfClosed(expired)
    if (mayWait && scope?.stepName && scope.execution === execution)
      throw new DurablyError(
        'nested_step',
        `step ${JSON.stringify(name)} was called inside step ${JSON.stringify(scope.stepName)}, but may wait; call it before, after or beside that step`,
      )
    checkName('step name', name)
    if (this.#called.has(name)) {
      throw new DurablyError('duplicate_step', `step ${JSON.stringify(name)} was already called in this run; give each step its own name`)
    }
    const index = this.#called.size
    this.#called.add(name)
    return { name, index, startedAt: env.wall(), expired }
  }

  /** Emits `step:start`, right before a function of the user is called. The caller has called `assureLease` before. */
  start(call: StepCall): void {
    const { execution, env } = this.deps
    // The execution may have been interrupted while the lease was renewed.
    execution.throwIfInterrupted(call.expired)
    // Renewing the lease may have taken long.
    call.startedAt = env.wall()
    execution.emitAndAttach('step:start', { generation: execution.generation, stepName: call.name, stepIndex: call.index })
  }

  /** Calls a function of the user as the body of a step. */
  async callFunction(
    call: StepCall,
    fn: (step: StepContext) => Promise<unknown>,
    { timeout, isTransaction = false }: CallOptions = {},
  ): Promise<unknown> {
    const { stepScope, stepWrappers, execution } = this.deps
    const { name } = call
    const scope: StepScope = { execution, stepName: name, isTransaction }
    this.#running.push(name)
    try {
      const work = (expired?: AbortSignal) => {
        // Since the last look others had their turn.
        execution.throwIfInterrupted(call.expired)
        const step = new RunningStep(this.deps, name, this.failed.times(name) + 1, expired)
        scope.expired = expired
        const callIt = () => fn(step)
        if (stepWrappers.length === 0) return stepScope.run(scope, callIt)
        const { id: runId, jobName } = execution.run
        const info = { runId, jobName, stepName: name, stepIndex: call.index, signal: step.signal }
        return stepScope.run(scope, () => wrapped(stepWrappers, info, callIt))
      }
      const returned = await (timeout !== undefined || call.expired ? this.#withinTime(call, timeout, work) : work())
      if (scope.hasRejectedCall) execution.throwIfInterrupted()
      return returned
    } finally {
      this.#running.splice(this.#running.indexOf(name), 1)
      // What the function has left running is no longer inside the transaction.
      scope.isTransaction = false
    }
  }

  async #withinTime<T>(call: StepCall, timeout: Duration | undefined, work: (expired?: AbortSignal) => Promise<T>): Promise<T> {
    const { withinStepTime } = await stepLimits(this.deps)
    const limit = timeoutOf(`timeout of step ${JSON.stringify(call.name)}`, timeout)
    return withinStepTime(this.deps.env, call.name, limit, call.expired, work)
  }

  /** Records the value, and returns it as a replay will see it (J3). */
  async record(call: StepCall, output: string | null, { endsStream = false, attach }: RecordOptions = {}): Promise<StepOutcome> {
    const { execution } = this.deps
    const step = this.row(call, output)
    // Called when it is the turn of this write: what is attached here is stored with the record, and taken back if the store rejects it.
    const attachOwn = () => {
      call.expired?.throwIfAborted()
      const detach = attach?.()
      const reopen = this.#closeEffect(call)
      return () => {
        detach?.()
        reopen()
      }
    }
    const accepted = await execution.owner.write({ type: 'recordStep', step, endsStream }, attachOwn)
    // Not accepted means that the lease is over. Then the execution is interrupted (X1 in execution.ts), so this always throws, and no value is
    // returned that is not stored.
    if (!accepted) execution.throwIfInterrupted()
    return { value: this.accepted(call, output) }
  }

  /** Takes note that a record was accepted, and returns the value that a replay will decode from it (J3). */
  accepted(call: StepCall, output: string | null): unknown {
    const { execution, codec } = this.deps
    execution.parking.waits.delete(call.name)
    return codec.decode(output)
  }

  /** Records a failure. A step that was interrupted has not failed: it runs again when the run goes on. */
  async fail(call: StepCall, error: unknown, { retry, mayHaveTakenPlace = false }: FailOptions = {}): Promise<StepOutcome> {
    const { execution, report } = this.deps
    const { id } = execution.run
    execution.throwIfInterrupted(call.expired)
    this.failed.add(call.name, error)
    // A retry policy returns 'dead' to give up.
    let delayMs = retry ? delayOf(this.deps, id, retry, this.failed.times(call.name), error) : 'dead'
    const recording = this.#recordFailure(call, error, { mayHaveTakenPlace, willRetry: delayMs !== 'dead' }).catch((unstorable) => {
      report(unstorable, id)
      // The next execution would not count an attempt that is not stored, so there is no further one.
      delayMs = 'dead'
      return true
    })
    // The record already has its place among the writes, so the job gets the error without waiting for the transaction (J4).
    const isAwaited = delayMs !== 'dead' || !execution.owner.isTransacting
    if (isAwaited && !(await recording)) execution.throwIfInterrupted()
    if (delayMs === 'dead') throw error
    return { wait: { name: call.name, kind: 'retry', dueAt: Math.ceil((await execution.clock.storeNow()) + delayMs) } }
  }

  #recordFailure(call: StepCall, error: unknown, { mayHaveTakenPlace, willRetry }: FailureFacts): Promise<boolean> {
    const { execution, store } = this.deps
    const step = this.row(call, null, failureOf(error, store))
    // An effect that threw may be tried again, so it is closed. One that ran out of time may still take place, so it stays open.
    const attach = () => (mayHaveTakenPlace || hasCode(error, 'timeout') ? undefined : this.#closeEffect(call))
    return execution.owner.write({ type: 'recordStep', step, willRetry }, attach)
  }

  /** An effect is open from its stored start to its record. Closes it with the write that is made now, and returns a function that opens it again. */
  #closeEffect({ name }: StepCall): () => void {
    const { effects } = this.deps.execution
    const closed = effects.delete(name)
    return () => void (closed && effects.add(closed))
  }

  /** What is stored of a step: its output, or how it has failed. */
  row(call: StepCall, output: string | null, failure: Failure | null = null): StepRow {
    const { env, execution } = this.deps
    return {
      id: env.id(),
      runId: execution.run.id,
      name: call.name,
      index: call.index,
      status: failure ? 'failed' : 'completed',
      output,
      error: failure?.message ?? null,
      failure: failure && JSON.stringify(failure),
      startedAt: iso(call.startedAt),
      completedAt: iso(env.wall()),
      leaseGeneration: execution.generation,
    }
  }

  /** Without AsyncLocalStorage, as in a browser, the step is known only while a single function runs. */
  currentStep(): string | null {
    const { stepScope, execution, env } = this.deps
    const scope = stepScope.current()
    if (env.scope) return scope?.execution === execution ? scope.stepName : null
    const [only, ...others] = this.#running
    return only !== undefined && others.length === 0 ? only : null
  }
}

interface CallOptions {
  timeout?: Duration | undefined
  isTransaction?: boolean
}

interface FailOptions {
  retry?: RetryPolicy | undefined
  /** An effect may have taken place: it stays open, and the next attempt asks what became of it. */
  mayHaveTakenPlace?: boolean
}

interface FailureFacts {
  mayHaveTakenPlace: boolean
  willRetry: boolean
}

interface RecordOptions {
  /** The record replaces the chunks that the function of `ctx.stream` has emitted. */
  endsStream?: boolean
  attach?: Attach
}
