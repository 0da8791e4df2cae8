// The jobs of the torture: chains and fans of steps that last from nothing to two leases, some of which throw.
import type { Durably } from '../../../packages/durably/dist/durably.js'
import type { Job, JobContext } from '../../../packages/durably/dist/model/job.js'
import { chance, oneOf, pick } from '../../../packages/durably/dist/testing/simulator/chance.js'
import type { LedgerWriter } from './ledger.ts'

const SHAPES = ['chain', 'fan'] as const
type Shape = (typeof SHAPES)[number]

interface PlannedStep {
  name: string
  ms: number
  /** Throws in every lease whose generation is below, so that a retry gets past it in the end. */
  throwsBelow: number
  /** Does not listen to its signal. */
  deaf: boolean
}

export interface PlannedRun {
  shape: Shape
  steps: PlannedStep[]
  idempotencyKey: string | null
  concurrencyKey: string | null
}

/** What a job function is handed: the plan, and the lease under which it runs. */
interface Assignment {
  steps: PlannedStep[]
  generation?: number
}

const LANES = 6

/** The run with number `n`; it waits for others only when it has a lane. */
export function planRun(seed: number, n: number, leaseMs: number, inLane: boolean): PlannedRun {
  const name = `run ${n}`
  return {
    shape: oneOf(seed, `${name} shape`, SHAPES),
    steps: Array.from({ length: pick(seed, `${name} steps`, 1, 4) }, (_, i) => planStep(seed, `${name} step ${i}`, i, leaseMs)),
    idempotencyKey: chance(seed, `${name} key`) < 0.25 ? `key-${n}` : null,
    concurrencyKey: inLane ? `lane-${pick(seed, `${name} lane`, 1, LANES)}` : null,
  }
}

function planStep(seed: number, name: string, i: number, leaseMs: number): PlannedStep {
  return {
    name: `s${i}`,
    ms: Math.round(oneOf(seed, `${name} ms`, [0, 0, 0.1, 0.2, 0.5, 0.9, 1, 1.1, 2]) * leaseMs),
    throwsBelow: chance(seed, `${name} throws`) < 0.06 ? pick(seed, `${name} until`, 2, 4) : 0,
    deaf: chance(seed, `${name} deaf`) < 0.5,
  }
}

export type TriggerPlanned = (plan: PlannedRun) => Promise<void>

/** Defines the jobs on an instance, and answers how it triggers a run of them. */
export function defineWorkload(durably: Durably, processName: string, ledger: LedgerWriter): TriggerPlanned {
  let executions = 0
  const step = (ctx: JobContext, planned: PlannedStep, generation: number) =>
    ctx.run(planned.name, async ({ signal }) => {
      // Unique to this execution, so that a second one cannot look like the first.
      const value = `${planned.name} by ${processName}#${executions++}`
      const entry = ledger.enterStep({ runId: ctx.runId, step: planned.name, generation, wasAborted: signal.aborted })
      await passTime(planned, signal)
      if (signal.aborted && !planned.deaf) {
        ledger.exit(entry, 'unfinished')
        throw new Error(`${planned.name} stopped when it was asked to`)
      }
      const throws = generation < planned.throwsBelow
      ledger.exit(entry, throws ? 'threw' : 'returned')
      if (throws) throw new Error(`${planned.name} threw`)
      return value
    })
  const shapes: Record<Shape, (ctx: JobContext, assignment: Required<Assignment>) => Promise<string[]>> = {
    fan: (ctx, { steps, generation }) => Promise.all(steps.map((planned) => step(ctx, planned, generation))),
    async chain(ctx, { steps, generation }) {
      const values: string[] = []
      for (const [i, planned] of steps.entries()) {
        values.push(await step(ctx, planned, generation))
        ctx.progress(i + 1, steps.length)
      }
      return values
    },
  }
  const jobs = new Map(
    SHAPES.map((shape) => [
      shape,
      durably.defineJob({ name: shape, input: ANYTHING }, async (ctx, payload) => {
        const { steps, generation = 0 } = payload as Assignment
        const entry = ledger.enterJob(ctx.runId, generation)
        try {
          return await shapes[shape](ctx, { steps, generation })
        } finally {
          ledger.exit(entry, 'returned')
        }
      }),
    ]),
  )
  return async ({ shape, steps, idempotencyKey, concurrencyKey }) => {
    const run = await jobs.get(shape)?.trigger({ steps } satisfies Assignment, {
      ...(idempotencyKey !== null && { idempotencyKey }),
      ...(concurrencyKey !== null && { concurrencyKey }),
    })
    if (run) ledger.acknowledge({ kind: 'triggered', runId: run.id, jobName: shape, idempotencyKey })
  }
}

/** Ends early when it is asked to stop, unless it ignores its signal and its job goes on. */
export function passTime({ ms, deaf }: Pick<PlannedStep, 'ms' | 'deaf'>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      // A function that goes on when its job has thrown is left behind, and may overlap with what comes next. That is not judged.
      if (deaf && (signal.reason as { code?: string } | undefined)?.code !== 'job_failed') return
      clearTimeout(timer)
      resolve()
    })
  })
}

export const ANYTHING: Job['input'] = { '~standard': { version: 1, vendor: 'durably', validate: (value) => ({ value }) } }
