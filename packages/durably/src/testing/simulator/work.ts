// Work — what happens inside the function of one step of a simulated job.
import type { Decision } from '../../model/effect.ts'
import { sleep } from '../../model/env.ts'
import { hasCode } from '../../model/errors.ts'
import type { Checkpoint, Emit, JobContext, StepContext } from '../../model/job.ts'
import { NonRetryableError, retry, retryAfter } from '../../model/retry-policy.ts'
import type { JobExecution } from '../invariants/index.ts'
import { oneOf } from './chance.ts'
import { misfitOf } from './misfit.ts'
import type { Inner, PlannedWork } from './planned-run.ts'
import type { SimLedger } from './sim-ledger.ts'
import type { SimLimit } from './sim-limit.ts'
import type { SimProcess } from './sim-process.ts'

/** Two of them are more than a stream buffers before it writes. */
const LONG_PART = 'x'.repeat(2500)
/** How long the engine waits for a step whose signal was aborted because its job has thrown. */
const LEFT_BEHIND_MS = 500
/** How many times its timeout a slow step takes. */
const DAWDLES = 3

const afterwards = new WeakMap<object, number>()

/** The delay that an error asked for with `retryAfter`. */
export function retryAfterOf(error: unknown): number | undefined {
  return afterwards.get(error as object)
}

/** What a step returns: unique to its execution, so that a second execution cannot look like the first. */
export interface StepValue {
  step: string
  execution: number
  misfit?: unknown
}

export interface StreamState {
  next: number
  by: number
}

export interface WorkDeps {
  seed: number
  process: SimProcess
  ledger: SimLedger
  ctx: JobContext
  execution: JobExecution
  limit: SimLimit
  /** The job writes log lines. */
  logs: boolean
}

export class Work {
  readonly #deps: WorkDeps
  readonly #planned: PlannedWork

  constructor(deps: WorkDeps, planned: PlannedWork) {
    this.#deps = deps
    this.#planned = planned
  }

  run({ signal }: StepContext): Promise<StepValue> {
    const { ms, timeoutMs, dawdles, inner } = this.#planned
    return this.#enter(signal, async (_throws, before) => {
      // Called first: without async scopes the engine knows only until the first `await` that a call is made inside of a step.
      if (inner !== null) await this.#callInside(inner)
      await this.#passTime(timeoutMs !== null && before < dawdles ? timeoutMs * DAWDLES : ms, signal)
      return !this.#mustStop(signal)
    })
  }

  stream(emit: Emit, checkpoint: Checkpoint<StreamState>, { signal }: StepContext): Promise<StepValue> {
    const { ledger, process, execution } = this.#deps
    const { runId, generation } = execution
    return this.#enter(signal, async (throws) => {
      const entered = ledger.enterStream(process, { runId, step: this.#planned.name, generation, emit, checkpoint })
      const { parts, checkpointEvery, hasty } = this.#planned.stream ?? { parts: 0, checkpointEvery: 0, hasty: false }
      const done = (asked: Promise<void>) => (hasty ? void asked.catch(() => {}) : asked)
      try {
        for (let part = checkpoint.state?.next ?? 0; part < parts; part++) {
          await this.#passTime(this.#planned.ms / parts, signal)
          if (this.#mustStop(signal) || (throws && part >= parts / 2)) return false
          await done(entered.emit(this.#part(part)))
          if (checkpointEvery > 0 && (part + 1) % checkpointEvery === 0) await done(entered.checkpoint({ next: part + 1, by: generation }))
        }
        return true
      } finally {
        entered.leave()
      }
    })
  }

  async #callInside(inner: Inner): Promise<void> {
    const { ctx, ledger } = this.#deps
    const name = `${this.#planned.name}.in`
    const calls: Record<Inner, () => Promise<unknown>> = {
      step: () => ctx.run(name, ({ signal }) => this.#plain(name, signal)),
      'tried step': () => ctx.run(name, { retry: retry.fixed({ maxAttempts: 2 }) }, ({ signal }) => this.#plain(name, signal)),
      sleep: () => ctx.sleep(name, 1000),
      wait: () => ctx.waitFor(name, { timeout: 1000 }),
      child: () => ctx.invoke({ name, trigger: () => Promise.reject(new Error(`${name} must not be triggered`)) }, null, { name }),
    }
    try {
      await calls[inner]()
    } catch (error) {
      if (!hasCode(error, 'nested_step')) throw error
      ledger.refused++
    }
  }

  async #plain(step: string, signal: AbortSignal): Promise<StepValue> {
    const { ledger, process, execution } = this.#deps
    const { runId, generation } = execution
    const effect = ledger.enterStep(process.name, runId, step, generation, process.now, signal.aborted)
    effect.hasMisleadingClocks = process.claims.hasMisleadingClocks(runId)
    effect.endedAt = process.now
    effect.outcome = 'returned'
    return { step, execution: 0 }
  }

  /** Answers whether the effect took place. The answer is random: only that the engine asks, and respects the answer, matters. */
  reconcile(): Decision {
    const { seed, ledger, execution } = this.#deps
    const { runId } = execution
    const step = this.#planned.name
    const asked = ledger.answers.filter((answer) => answer.runId === runId && answer.step === step).length
    const answer = oneOf(seed, `reconcile ${step} ${asked}`, ['run again', 'run again', 'done', 'failed', 'no answer'])
    ledger.answers.push({ place: ledger.place(), runId, step, wasNot: answer === 'run again' || answer === 'failed' })
    if (answer === 'no answer') throw new Error(`nobody knows what became of ${step}`)
    if (answer === 'done') return { done: { step, execution: -1 - asked } satisfies StepValue }
    return answer === 'failed' ? { failed: `${step} did not work` } : 'run again'
  }

  /** Unique to the attempt, so that a second one cannot look like the first. */
  #part(part: number): unknown {
    const by = this.#deps.execution.generation
    const kind = (part + this.#planned.ms) % 4
    if (kind === 1) return { part, by }
    return `${part}/${by};${kind === 2 ? LONG_PART : ''}`
  }

  async #enter(signal: AbortSignal, body: (throws: boolean, before: number) => Promise<boolean>): Promise<StepValue> {
    const { name, throws, misfit, fatal, once, timeoutMs } = this.#planned
    const { process, ledger, execution, ctx, limit } = this.#deps
    const { runId, generation } = execution
    const before = ledger.effects.filter((effect) => effect.runId === runId && effect.step === name).length
    const began = process.now
    const endsAt = process.env.mono() + (timeoutMs ?? Number.POSITIVE_INFINITY)
    const effect = ledger.enterStep(process.name, runId, name, generation, began, signal.aborted)
    effect.once = once !== null
    effect.hasMisleadingClocks = process.claims.hasMisleadingClocks(runId)
    effect.freeAt = Math.min(limit.freeAt, began + (timeoutMs ?? Number.POSITIVE_INFINITY))
    effect.startedLate = limit.isLate()
    ctx.signal.addEventListener('abort', () => {
      const { now } = process
      if (effect.endedAt === null && process.env.mono() < endsAt) effect.cutShort = true
      // Its job has thrown or is out of time: the engine does not wait for a step function that ignores its signal.
      const { reason } = ctx.signal
      if (hasCode(reason, 'job_failed') || hasCode(reason, 'timeout')) effect.freeAt = Math.min(effect.freeAt ?? now, now + LEFT_BEHIND_MS)
    })
    const fails = before < throws
    const returned = await body(fails && misfit === null, before).catch(() => false)
    effect.endedAt = process.now
    effect.outcome = fails || !returned ? 'threw' : 'returned'
    if (fails && misfit !== null && returned) {
      effect.tookPlace = true
      return { step: name, execution: before, misfit: misfitOf(misfit) }
    }
    if (effect.outcome === 'threw') throw this.#withRetryAfter(new (fatal ? NonRetryableError : Error)(`${name} threw`), signal)
    return { step: name, execution: before }
  }

  /** After a timeout the engine ignores what the function throws. */
  #withRetryAfter(error: Error, signal: AbortSignal): Error {
    const { laterMs: afterMs, name } = this.#planned
    if (afterMs === null || signal.aborted) return error
    this.#deps.ledger.recordRetryAfter(this.#deps.process, { ...this.#deps.execution, step: name, afterMs })
    afterwards.set(error, afterMs)
    return retryAfter(error, afterMs)
  }

  #mustStop(signal: AbortSignal): boolean {
    return signal.aborted && !this.#planned.deaf
  }

  #passTime(ms: number, signal: AbortSignal): Promise<void> {
    const { process } = this.#deps
    const { env } = process
    if (this.#planned.deaf) return sleep(env, ms)
    return new Promise((resolve) => {
      const timer = env.timer(ms, () => {
        forget()
        resolve()
      })
      const forget = process.onAbort(signal, () => {
        env.clear(timer)
        resolve()
      })
    })
  }
}
