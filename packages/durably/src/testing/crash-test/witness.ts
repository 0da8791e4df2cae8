// Witness — records what a user's functions do in a simulated world: job functions, the steps that they call, step functions that really
// run. It wraps the instance that the user's definition gets, and changes nothing of what either side sees.
import type { Durably } from '../../durably.ts'
import type { Env, TimerHandle } from '../../model/env.ts'
import type { JobContext, StepFunction, StepOptions, StreamFunction } from '../../model/job.ts'
import type { StepInfo } from '../../worker/steps/step-wrapper.ts'
import { SimLedger } from '../simulator/sim-ledger.ts'
import type { SimProcess } from '../simulator/sim-process.ts'

/** Which steps one execution of a job function asked for, recorded ones included. */
export interface Asked {
  runId: string
  generation: number
  steps: Set<string>
}

type JobFunction = (ctx: JobContext, payload: unknown) => unknown

export class Witness {
  readonly ledger = new SimLedger()
  readonly asked: Asked[] = []
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

  /** Functions of live processes are under way, and none of them waits for virtual time. */
  get waitsForRealTime(): boolean {
    return this.isWorking && !this.#waitsForTimer((process) => process.alive)
  }

  /** A function of a live process has not ended. */
  get isWorking(): boolean {
    return this.ledger.executions.some(({ endedAt }) => endedAt === null) || this.ledger.effects.some(({ endedAt }) => endedAt === null)
  }

  /** The process is dead, but its functions cannot be killed: what they wait for still settles. */
  get hasGhosts(): boolean {
    return [...this.#steps].some(([process, steps]) => steps > 0 && !process.alive && !this.#waitsForTimer((other) => other === process))
  }

  #waitsForTimer(which: (process: SimProcess) => boolean): boolean {
    return [...this.#timers].some(([process, timers]) => which(process) && timers.size > 0)
  }

  async #job(process: SimProcess, { runId }: JobContext, run: () => unknown): Promise<unknown> {
    const execution = this.ledger.enterJob(process.name, runId, process.generationOf(runId), process.env.mono())
    try {
      return await run()
    } finally {
      if (process.alive) execution.endedAt = process.env.mono()
    }
  }

  #askedThrough(ctx: JobContext, process: SimProcess): JobContext {
    const steps = new Set<string>()
    const { runId } = ctx
    const generation = process.generationOf(runId)
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
    return bound(ctx, { run, stream })
  }

  async #step(process: SimProcess, { runId, stepName, signal }: StepInfo, next: () => Promise<unknown>): Promise<unknown> {
    // A job function that waited for the real world may get here after its process died.
    if (!process.alive) return new Promise(() => {})
    const generation = process.generationOf(runId)
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
