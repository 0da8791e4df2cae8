// JobContext — what a job holds in its hand while it runs.
//   J1. A completed step is found by its name and never runs again; its recorded value is returned.
//   J2. A step starts without a read or a write; its end is one write, which renews the lease.
//   J3. What a step returns first is exactly what a replay returns: the decoded record, not the function's own object.

import type { Emitter } from '../events/emitter.ts'
import type { Codec } from '../model/codec.ts'
import { type Env, iso, type Scope } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { causeOf, failureOf } from '../model/failure.ts'
import type { JobContext, Logger, StepFunction, StreamFunction } from '../model/job.ts'
import type { LogLevel } from '../model/log.ts'
import { checkName } from '../model/name.ts'
import type { Progress } from '../model/run.ts'
import { readStepColumn, type StepRow } from '../model/step.ts'
import type { Store } from '../store/store.ts'
import type { Execution } from './execution.ts'
import { plainStep, type StepBody } from './step-body.ts'
import { type StepWrapper, wrapStep } from './step-wrapper.ts'
import { streamStep } from './stream-step.ts'

export interface JobContextParts {
  execution: Execution
  completedSteps: readonly StepRow[]
  env: Env
  codec: Codec
  emitter: Emitter
  stepScope: Scope<string> | undefined
  stepWrappers: readonly StepWrapper[]
  store: Store
  leaseMs: number
  report: (error: unknown, runId?: string) => void
}

/** A long step's progress becomes visible to other processes within this time. */
const PROGRESS_WITHIN_MS = 1000

/** An error may be its own cause. */
const CAUSES_MAX = 10

interface StepCall {
  name: string
  index: number
  startedAt: number
}

export class RunningJobContext implements JobContext {
  readonly runId: string
  readonly signal: AbortSignal
  readonly log: Logger
  readonly #parts: JobContextParts
  readonly #recorded: Map<string, StepRow>
  readonly #called = new Set<string>()
  readonly #inFlight = new Set<string>()
  readonly #failures: { error: unknown; stepName: string }[] = []

  constructor(parts: JobContextParts) {
    this.#parts = parts
    this.#recorded = new Map(parts.completedSteps.map((step) => [step.name, step]))
    this.runId = parts.execution.run.id
    this.signal = parts.execution.signal
    this.log = this.#logger(() => this.#currentStep())
  }

  run<T>(name: string, fn: StepFunction<T>): Promise<T> {
    return handled(this.#step<T>(name, fn, () => plainStep(fn)))
  }

  stream<T, TState>(name: string, fn: StreamFunction<T, TState>): Promise<T> {
    return handled(this.#step<T>(name, fn, () => streamStep({ ...this.#parts, stepName: name }, fn)))
  }

  async #step<T>(name: string, fn: unknown, bodyOf: () => StepBody | Promise<StepBody>): Promise<T> {
    const { execution, codec } = this.#parts
    execution.admit()
    checkName('step name', name)
    if (typeof fn !== 'function') throw new DurablyError('invalid_argument', `step ${quote(name)} needs a function as its last argument`)
    if (this.#called.has(name)) {
      throw new DurablyError('duplicate_step', `step ${quote(name)} was already called in this run; give each step its own name`)
    }
    const index = this.#called.size
    this.#called.add(name)
    const recorded = this.#recorded.get(name)
    if (recorded) return readStepColumn(recorded, 'output', codec) as T
    return (await execution.track(this.#execute(name, index, bodyOf))) as T
  }

  progress(current: number, total?: number, message?: string): void {
    const { execution, emitter, codec } = this.#parts
    if (execution.owner.sealed || execution.interrupted) return
    const progress: Progress = { current, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
    if (!Number.isFinite(current) || (total !== undefined && !Number.isFinite(total))) {
      throw new DurablyError('invalid_argument', `progress needs finite numbers, got current ${current} and total ${total}`)
    }
    execution.owner.rideProgress(codec.encode(progress, 'progress'))
    execution.owner.rideEvent(execution.recorded('run:progress', { progress }))
    execution.heartbeat.carryWithin(PROGRESS_WITHIN_MS)
    emitter.emit({ type: 'run:progress', runId: this.runId, jobName: execution.run.jobName, progress })
  }

  /** The step whose error ended the job, also when the job threw it on as a cause; empty when no step failed. */
  failedStepName(thrown: unknown): string {
    for (let error = thrown, depth = 0; depth < CAUSES_MAX; depth++) {
      const failed = this.#failures.find((failure) => failure.error === error)
      if (failed) return failed.stepName
      error = causeOf(error)
      if (error === undefined) break
    }
    return ''
  }

  async #execute(name: string, index: number, bodyOf: () => StepBody | Promise<StepBody>): Promise<unknown> {
    const { execution, env, codec, emitter } = this.#parts
    const body = await bodyOf()
    await execution.assureLease()
    const call: StepCall = { name, index, startedAt: env.wall() }
    execution.owner.rideEvent(execution.recorded('step:start', { stepName: name, stepIndex: index }))
    emitter.emit({ type: 'step:start', ...this.#facts(call) })
    let output: string | null
    try {
      output = codec.encode(await this.#call(call, body.call), `the result of step ${quote(name)}`)
      const endsStream = await body.finish()
      const step = this.#row(call, { status: 'completed', output })
      const accepted = await execution.owner.write({ type: 'recordStep', step, endsStream }, () => body.record())
      if (!accepted) execution.goOn()
    } catch (error) {
      body.giveUp()
      return this.#failed(call, error)
    }
    const duration = env.wall() - call.startedAt
    const value = codec.decode(output)
    emitter.emit({ type: 'step:complete', ...this.#facts(call), output: value, duration })
    return value
  }

  async #call(call: StepCall, fn: StepBody['call']): Promise<unknown> {
    const { stepScope, stepWrappers } = this.#parts
    const step = { signal: this.signal, log: this.#logger(() => call.name) }
    const run = () => wrapStep(stepWrappers, { ...this.#facts(call), signal: this.signal }, () => fn(step))
    this.#inFlight.add(call.name)
    try {
      return await (stepScope ? stepScope.run(call.name, run) : run())
    } finally {
      this.#inFlight.delete(call.name)
    }
  }

  /** A step that was interrupted has not failed: it will run again where the run goes on. */
  async #failed(call: StepCall, error: unknown): Promise<never> {
    const { execution, emitter } = this.#parts
    execution.goOn()
    const failure = failureOf(error)
    const row = this.#row(call, { status: 'failed', error: failure.message, failure: JSON.stringify(failure) })
    if (!(await execution.owner.write({ type: 'recordStep', step: row }))) execution.goOn()
    this.#failures.push({ error, stepName: call.name })
    emitter.emit({ type: 'step:fail', ...this.#facts(call), error: failure.message })
    throw error
  }

  #row(call: StepCall, result: Pick<StepRow, 'status'> & Partial<StepRow>): StepRow {
    const { env, execution } = this.#parts
    return {
      id: env.id(),
      runId: this.runId,
      name: call.name,
      index: call.index,
      output: null,
      error: null,
      failure: null,
      startedAt: iso(call.startedAt),
      completedAt: iso(env.wall()),
      leaseGeneration: execution.generation,
      ...result,
    }
  }

  #facts(call: StepCall) {
    return { runId: this.runId, jobName: this.#parts.execution.run.jobName, stepName: call.name, stepIndex: call.index }
  }

  #logger(stepName: () => string | null): Logger {
    const { emitter } = this.#parts
    const write = (level: LogLevel) => (message: string, data?: unknown) =>
      emitter.emit({ type: 'log:write', runId: this.runId, stepName: stepName(), level, message: String(message), data })
    return { info: write('info'), warn: write('warn'), error: write('error') }
  }

  /** Without async scopes the step is known only while a single one is in flight. */
  #currentStep(): string | null {
    const { stepScope } = this.#parts
    if (stepScope) return stepScope.current() ?? null
    const [only, ...others] = this.#inFlight
    return only !== undefined && others.length === 0 ? only : null
  }
}

/** A job that never awaits a step must not bring the process down when the step fails. */
function handled<T>(result: Promise<T>): Promise<T> {
  result.catch(() => {})
  return result
}

function quote(name: string): string {
  return JSON.stringify(name)
}
