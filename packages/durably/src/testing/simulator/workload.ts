// The jobs of a simulated world: each does what its payload says (plan-runs.ts), and records in the ledger what it did and saw.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Durably } from '../../durably.ts'
import { hasCode } from '../../model/errors.ts'
import type { Labels } from '../../model/labels.ts'
import { NonRetryableError, type RetryPolicy, retry } from '../../model/retry-policy.ts'
import type { JobHandle } from '../../runs/job-handle.ts'
import { transactionLimitMs } from '../../worker/steps/transaction-limit.ts'
import { type GaveUpNote, THE_JOB } from '../invariants/index.ts'
import { book } from './bookings.ts'
import type { Beginning } from './claimed-runs.ts'
import { misfitOf } from './misfit.ts'
import {
  childrenOf,
  type PlannedBooking,
  type PlannedCall,
  type PlannedChild,
  type PlannedSleep,
  type PlannedSpoil,
  type PlannedStep,
  type PlannedWait,
  type PlannedWork,
  SHAPES,
} from './planned-run.ts'
import type { SimFleet } from './sim-fleet.ts'
import type { SimLedger } from './sim-ledger.ts'
import { SimLimit } from './sim-limit.ts'
import type { SimProcess } from './sim-process.ts'
import { type SteadyJobs, steady } from './steady-jobs.ts'
import { retryAfterOf, type StepValue, type StreamState, Work, type WorkDeps } from './work.ts'

/** The payload of a run. `by`: the step that triggered it, as `run/step`. `labels`: those that it was given. */
export interface SimPayload {
  steps: PlannedStep[]
  spoiled?: PlannedSpoil | undefined
  labels?: Labels | undefined
  by?: string
}

/** What a job saw of a step; without a value where it failed and the job went on. */
export interface Part {
  step: string
  value?: unknown
}

export interface WorkloadDeps {
  seed: number
  durably: Durably
  process: SimProcess
  ledger: SimLedger
  steadyJobs: SteadyJobs
  /** Undefined where the workers are not a fleet. */
  fleet?: SimFleet | undefined
}

export type SimJobs = ReadonlyMap<string, JobHandle<string, SimPayload, Part[]>>

export function defineWorkload({ seed, durably, process, ledger, steadyJobs, fleet }: WorkloadDeps): SimJobs {
  const jobs = new Map<string, JobHandle<string, SimPayload, Part[]>>()
  const { timeoutMs } = steadyJobs
  const define = (name: string, options: { retry?: RetryPolicy; timeout?: number } = {}) => {
    const runsOn = fleet?.plan.runsOn(name)
    const definition = { name, input: anything<SimPayload>(), ...options, ...(runsOn && { runsOn }) }
    return durably.defineJob(definition, async (ctx, { steps, spoiled }) => {
      const execution = ledger.enterJob(process.name, ctx.runId, process.claims.generationOf(ctx.runId), process.now)
      execution.hasMisleadingClocks = process.claims.hasMisleadingClocks(ctx.runId)
      const limit = new SimLimit(process, execution, options.timeout ?? Number.POSITIVE_INFINITY)
      execution.freeAt = limit.freeAt
      execution.startedLate = limit.isLate()
      ctx.signal.addEventListener('abort', () => {
        execution.abortedAt = process.now
        fleet?.aborted(process, execution, ctx.signal.reason)
        if (hasCode(ctx.signal.reason, 'timeout') && !process.claims.isDeadlineOver(ctx.runId)) limit.recordTimeout()
      })
      const job = new SimJob({ seed, process, ledger, ctx, execution, limit, logs: fleet?.plan.isArchiving === true }, jobs)
      try {
        const parts = await (name.endsWith('fan') ? job.fan(steps) : job.chain(steps))
        return spoiled ? job.spoil(parts, spoiled) : parts
      } catch (error) {
        const afterMs = retryAfterOf(error)
        if (afterMs !== undefined && !ctx.signal.aborted) ledger.recordRetryAfter(process, { ...execution, step: THE_JOB, afterMs })
        throw error
      } finally {
        execution.endedLate = limit.isLate()
        if (process.alive) execution.endedAt ??= process.now
      }
    })
  }
  for (const shape of SHAPES) {
    jobs.set(shape, define(shape))
    const policy = { retry: policyOf(steadyJobs), ...(timeoutMs !== undefined && { timeout: timeoutMs }) }
    jobs.set(steady(shape), define(steady(shape), policy))
  }
  return jobs
}

function policyOf({ attempts, delayMs, jitter }: SteadyJobs): RetryPolicy {
  return jitter ? retry.exponential({ maxAttempts: attempts, initial: delayMs }) : retry.fixed({ maxAttempts: attempts, delay: delayMs })
}

class SimJob {
  readonly #deps: WorkDeps
  readonly #jobs: SimJobs

  constructor(deps: WorkDeps, jobs: SimJobs) {
    this.#deps = deps
    this.#jobs = jobs
  }

  fan(steps: readonly PlannedStep[]): Promise<Part[]> {
    return Promise.all(steps.map((planned) => this.#step(planned))).then((parts) => parts.flat())
  }

  async chain(steps: readonly PlannedStep[]): Promise<Part[]> {
    const parts: Part[] = []
    for (const [i, planned] of steps.entries()) {
      parts.push(...(await this.#step(planned)))
      if (this.#deps.logs) this.#deps.ctx.log.info(`step ${i} of ${steps.length}`)
      this.#deps.ctx.progress(i + 1, steps.length)
    }
    return parts
  }

  spoil(parts: Part[], { times, misfit }: PlannedSpoil): Part[] {
    const { ledger, execution } = this.#deps
    const { runId, generation } = execution
    const before = ledger.gaveUp.filter((note) => note.runId === runId && note.step === THE_JOB).length
    if (before >= times) return parts
    ledger.gaveUp.push({ place: ledger.place(), runId, generation, step: THE_JOB, why: 'own' })
    return [...parts, { step: THE_JOB, value: misfitOf(misfit) }]
  }

  async #step(planned: PlannedStep): Promise<Part[]> {
    switch (planned.kind) {
      case 'race':
        return [await Promise.race(planned.legs.map((leg) => this.#call(leg)))]
      case 'crowd':
        return Promise.all(childrenOf(planned).map((child) => this.#call(child)))
      default:
        return [await this.#call(planned)]
    }
  }

  async #call(planned: PlannedCall): Promise<Part> {
    const { ledger, ctx, execution } = this.#deps
    const { name } = planned
    try {
      return { step: name, value: await this.#valueOf(planned) }
    } catch (error) {
      if (ctx.signal.aborted) throw error
      ledger.gaveUp.push({ place: ledger.place(), ...execution, step: name, why: whyOf(error) })
      if ('tolerant' in planned && planned.tolerant) return { step: name }
      throw error
    }
  }

  #valueOf(planned: PlannedCall): Promise<unknown> {
    switch (planned.kind) {
      case 'work':
        return this.#work(planned)
      case 'sleep':
        return this.#sleep(planned)
      case 'wait':
        return this.#wait(planned)
      case 'child':
        return this.#child(planned)
      case 'booking':
        return this.#book(planned)
    }
  }

  #work(planned: PlannedWork): Promise<StepValue> {
    const { ctx } = this.#deps
    const { name, stream, once, timeoutMs } = planned
    const work = new Work(this.#deps, planned)
    if (stream !== null) return ctx.stream<StepValue, StreamState>(name, (emit, checkpoint, step) => work.stream(emit, checkpoint, step))
    const policy = planned.retry && retry.fixed({ maxAttempts: planned.retry.tries, delay: planned.retry.delayMs })
    const options = {
      ...(policy && { retry: policy }),
      ...(timeoutMs !== null && { timeout: timeoutMs }),
      ...(once !== null && { effect: 'once' as const }),
      ...(once === 'reconciled' && { reconcile: () => work.reconcile() }),
    }
    return ctx.run(name, options, (step) => work.run(step))
  }

  #sleep({ name, ms, until }: PlannedSleep): Promise<void> {
    const { ctx, process } = this.#deps
    if (!until) {
      this.#noteWait(name, process.claims.beginning(ctx.runId), ms)
      return ctx.sleep(name, ms)
    }
    // Every execution sleeps until the same time.
    const start = process.claims.startOf(ctx.runId)
    this.#noteWait(name, { earliest: start, latest: start }, ms)
    return ctx.sleepUntil(name, Math.ceil(start + ms))
  }

  #wait({ name, timeoutMs }: PlannedWait): Promise<unknown> {
    const { ctx, process } = this.#deps
    this.#noteWait(name, process.claims.beginning(ctx.runId), timeoutMs)
    return ctx.waitFor(name, timeoutMs === null ? {} : { timeout: timeoutMs })
  }

  /** `ms` is null for a wait without an end. */
  #noteWait(step: string, beginning: Beginning, ms: number | null): void {
    const { ledger, process, execution, ctx } = this.#deps
    const { runId, generation } = execution
    // The engine refuses the call after the signal was aborted.
    if (ctx.signal.aborted) return
    ledger.waits.push({
      place: ledger.place(),
      runId,
      step,
      generation,
      get dueAt() {
        return ms === null ? null : Math.ceil(beginning.earliest + ms)
      },
      get dueAtMost() {
        return ms === null ? null : Math.ceil(beginning.latest + ms)
      },
      // The engine measures a lease by two clocks, and one of them has whole milliseconds only.
      isOver: ms !== null && beginning.earliest + ms <= process.claims.storeNowAtMost(runId) + 1,
    })
  }

  async #child({ name, invoked, job, steps, concurrencyKey }: PlannedChild): Promise<unknown> {
    const { ctx } = this.#deps
    const child = this.#jobs.get(job)
    if (!child) throw new Error(`there is no job ${job}`)
    const payload = { steps, by: `${ctx.runId}/${name}` }
    const options = { name, ...(concurrencyKey !== undefined && { concurrencyKey }) }
    return invoked ? ctx.invoke(child, payload, options) : ctx.trigger(child, payload, options)
  }

  #book({ name, throws, dawdles, timeoutMs, enqueues }: PlannedBooking): Promise<unknown> {
    const { ctx, ledger, process, execution } = this.#deps
    const { env } = process
    const late = transactionLimitMs(process.leaseMs, timeoutMs ?? undefined) + LATE_MS
    return ctx.transaction(name, timeoutMs === null ? {} : { timeout: timeoutMs }, async (trx) => {
      const before = ledger.enterBooking(ctx.runId, name)
      const dawdle = () => new Promise<void>((resolve) => void env.timer(before < dawdles ? late : 0, resolve))
      await book(trx, { runId: ctx.runId, step: name }, dawdle)
      if (enqueues) await this.#jobs.get('chain')?.trigger({ steps: [], by: `${ctx.runId}/${name}` }, { tx: trx })
      if (before < throws) throw new Error(`${name} threw`)
      return { step: name, execution: before, by: `${process.name}/${execution.generation}` }
    })
  }
}

const OWN = ['timeout', 'transaction_timeout', 'store_rejected', 'value_not_serializable', 'value_too_large'] as const
/** How much longer than its limit a slow transaction takes. */
const LATE_MS = 50
const OTHERS_FAILED = ['run_failed', 'run_cancelled', 'wait_timeout'] as const

function whyOf(error: unknown): GaveUpNote['why'] {
  if (OWN.some((code) => hasCode(error, code))) return 'own'
  if (error instanceof NonRetryableError || OTHERS_FAILED.some((code) => hasCode(error, code))) return 'final'
  if (!(error instanceof Error)) return 'other'
  return error.message.endsWith(' threw') ? 'own' : error.message.startsWith('nobody knows') ? 'final' : 'other'
}

function anything<T>(): StandardSchemaV1<T, T> {
  return { '~standard': { version: 1, vendor: 'durably', validate: (value) => ({ value: value as T }) } }
}
