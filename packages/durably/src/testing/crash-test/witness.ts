// Witness — records what a user's functions do in a simulated world: job functions, the steps that they call, step functions that really
// run. It wraps the instance that the user's definition gets, and changes nothing of what either side sees.
import type { Durably } from '../../durably.ts'
import type { Env, TimerHandle } from '../../model/env.ts'
import type { ChildRunOptions, JobContext, StepFunction, StepOptions, StreamFunction, Triggers } from '../../model/job.ts'
import { ChildNames } from '../../worker/steps/child-names.ts'
import type { StepInfo } from '../../worker/steps/step-wrapper.ts'
import { type StepPlan, stepKey } from '../invariants/index.ts'
import { SimLedger } from '../simulator/sim-ledger.ts'
import type { SimProcess } from '../simulator/sim-process.ts'

/** Which steps one execution of a job function asked for, recorded ones included. */
export interface Asked {
  runId: string
  generation: number
  steps: Set<string>
}

/** Nothing more is known of a sleep, a wait or a child. */
const WITHOUT_FUNCTION: StepPlan = { kind: 'wait', isInvoked: false, triesMax: 1, enqueues: false, timeoutMs: null }

type JobFunction = (ctx: JobContext, payload: unknown) => unknown

export class Witness {
  readonly ledger = new SimLedger()
  readonly asked: Asked[] = []
  /** The steps that have no function. */
  readonly plans = new Map<string, StepPlan>()
  /** How many step functions are in flight, those of dead processes included. */
  readonly #steps = new Map<SimProcess, number>()
  readonly #timers = new Map<SimProcess, Set<TimerHandle>>()

  /** The instance that is given to the user's code. */
  over(durably: Durably, process: SimProcess): Durably {
    this.ledger.recordAcknowledgements(durably, process)
    durably.use({ name: 'witness', install: (host) => host.wrapStep((step, next) => this.#step(process, step, next)) })
    const defineJob = (definition: Parameters<Durably['defineJob']>[0], run: JobFunction) =>
      durably.defineJob(definition, (ctx, payload) => this.#job(process, ctx, () => run(this.#askedThrough(ctx, process), payload)))
    return bound(durably, { defineJob })
  }

  /** The clock that is given to the user's code: it counts which functions wait for virtual time. */
  clockOf(process: SimProcess): Env {
    const timers = new Set<TimerHandle>()
    this.#timers.set(process, timers)
    return {
      ...process.env,
      timer(ms, fn) {
        const handle = process.env.timer(ms, () => {
          timers.delete(handle)
          fn()
        })
        timers.add(handle)
        return handle
      },
      clear(handle) {
        timers.delete(handle)
        process.env.clear(handle)
      },
    }
  }

  /** Functions of live processes are under way, and none of them waits for virtual time. Those of a process that stands still wait for it to go on. */
  get waitsForRealTime(): boolean {
    const { executions, effects } = this.ledger
    const awake = [...this.#timers.keys()].filter((process) => process.wokeAt <= process.now).map(({ name }) => name)
    const isUnderWay = [...executions, ...effects].some(({ endedAt, process }) => endedAt === null && awake.includes(process))
    return isUnderWay && !this.#waitsForTimer((process) => process.alive)
  }

  /** A function of a live process has not ended. */
  get isWorking(): boolean {
    return this.ledger.isAtWork
  }

  /** What is waited for, in words. */
  get inFlight(): string {
    const steps = this.ledger.effects.filter(({ endedAt }) => endedAt === null).map(({ step }) => JSON.stringify(step))
    if (steps.length > 0) return `step ${[...new Set(steps)].join(', ')} has not settled`
    return this.isWorking ? 'the job function waits for something outside of its steps' : 'no function is executing'
  }

  /** The process is dead, but its functions cannot be killed: what they wait for still settles. */
  get hasGhosts(): boolean {
    return [...this.#steps].some(([process, steps]) => steps > 0 && !process.alive && !this.#waitsForTimer((other) => other === process))
  }

  #waitsForTimer(which: (process: SimProcess) => boolean): boolean {
    return [...this.#timers].some(([process, timers]) => which(process) && timers.size > 0)
  }

  async #job(process: SimProcess, { runId }: JobContext, run: () => unknown): Promise<unknown> {
    const execution = this.ledger.enterJob(process.name, runId, process.claims.generationOf(runId), process.env.mono())
    try {
      return await run()
    } finally {
      if (process.alive) execution.endedAt = process.env.mono()
    }
  }

  #askedThrough(ctx: JobContext, process: SimProcess): JobContext {
    const steps = new Set<string>()
    const { runId } = ctx
    const generation = process.claims.generationOf(runId)
    this.asked.push({ runId, generation, steps })
    const run = <T>(name: string, ...rest: [StepFunction<T>] | [StepOptions, StepFunction<T>]): Promise<T> => {
      steps.add(name)
      return rest.length === 1 ? ctx.run(name, ...rest) : ctx.run(name, ...rest)
    }
    const stream = <T, TState>(name: string, fn: StreamFunction<T, TState>): Promise<T> => {
      steps.add(name)
      return ctx.stream<T, TState>(name, async (emit, checkpoint, step) => {
        const entered = this.ledger.enterStream(process, { runId, step: name, generation, emit, checkpoint })
        try {
          return await fn(entered.emit, entered.checkpoint, step)
        } finally {
          entered.leave()
        }
      })
    }
    const transaction = (name: string, ...rest: unknown[]): unknown => {
      steps.add(name)
      return Reflect.apply(ctx.transaction, ctx, [name, ...rest])
    }
    return bound(ctx, { run, stream, transaction, ...this.#waitsThrough(ctx, steps) })
  }

  #waitsThrough(ctx: JobContext, steps: Set<string>): Partial<JobContext> {
    const asks = (step: string) => {
      steps.add(step)
      this.plans.set(stepKey({ runId: ctx.runId, step }), WITHOUT_FUNCTION)
    }
    const names = new ChildNames()
    const asksFor = (verb: 'trigger' | 'invoke', job: Triggers<never, unknown>, options: ChildRunOptions | undefined) =>
      asks(options?.name ?? names.next(verb, job?.name))
    return {
      sleep: (name, duration) => {
        asks(name)
        return ctx.sleep(name, duration)
      },
      sleepUntil: (name, time) => {
        asks(name)
        return ctx.sleepUntil(name, time)
      },
      waitFor: (name: string, options?: Parameters<JobContext['waitFor']>[1]) => {
        asks(name)
        return ctx.waitFor(name, options)
      },
      trigger: (job, input, options) => {
        asksFor('trigger', job, options)
        return ctx.trigger(job, input, options)
      },
      invoke: (job, input, options) => {
        asksFor('invoke', job, options)
        return ctx.invoke(job, input, options)
      },
    }
  }

  async #step(process: SimProcess, { runId, stepName, signal }: StepInfo, next: () => Promise<unknown>): Promise<unknown> {
    // A job function that waited for the real world may get here after its process died.
    if (!process.alive) return new Promise(() => {})
    const generation = process.claims.generationOf(runId)
    const effect = this.ledger.enterStep(process.name, runId, stepName, generation, process.env.mono(), signal.aborted)
    const end = (outcome: 'returned' | 'threw') => {
      this.#count(process, -1)
      if (process.alive) Object.assign(effect, { outcome, endedAt: process.env.mono() })
    }
    this.#count(process, 1)
    try {
      const value = await next()
      end('returned')
      return value
    } catch (error) {
      end('threw')
      throw error
    }
  }

  #count(process: SimProcess, by: number): void {
    this.#steps.set(process, (this.#steps.get(process) ?? 0) + by)
  }
}

/** `target` with some members replaced; its methods keep their own `this`, which private members need. */
function bound<T extends object>(target: T, replaced: object): T {
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(replaced, key)) return Reflect.get(replaced, key)
      const member: unknown = Reflect.get(target, key, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
