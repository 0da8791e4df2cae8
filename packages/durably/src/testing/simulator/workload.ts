// The jobs of a simulated world: chains and fans of steps, short and as long as a lease, some of which throw.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Durably } from '../../durably.ts'
import type { JobContext } from '../../model/job.ts'
import { chance, oneOf, pick } from './chance.ts'
import type { SimLedger } from './sim-ledger.ts'
import type { SimProcess } from './sim-process.ts'

const SHAPES = ['chain', 'fan'] as const

export interface PlannedStep {
  name: string
  ms: number
  /** Throws in its first executions, so many times. */
  throws: number
  /** Does not listen to its signal. */
  deaf: boolean
}

export interface PlannedRun {
  shape: (typeof SHAPES)[number]
  steps: PlannedStep[]
  idempotencyKey: string | undefined
  concurrencyKey: string | undefined
  atMs: number
}

export function planRun(seed: number, n: number, leaseMs: number, withinMs: number): PlannedRun {
  const name = `run ${n}`
  return {
    shape: oneOf(seed, `${name} shape`, SHAPES),
    steps: Array.from({ length: pick(seed, `${name} steps`, 1, 4) }, (_, i) => planStep(seed, `${name} step ${i}`, i, leaseMs)),
    idempotencyKey: chance(seed, `${name} key`) < 0.5 ? `key-${pick(seed, `${name} which key`, 0, 3)}` : undefined,
    concurrencyKey: chance(seed, `${name} lane`) < 0.5 ? `lane-${pick(seed, `${name} which lane`, 0, 1)}` : undefined,
    atMs: pick(seed, `${name} time`, 0, withinMs),
  }
}

function planStep(seed: number, name: string, i: number, leaseMs: number): PlannedStep {
  const ms = oneOf(seed, `${name} ms`, [0, 5, 400, 3000, leaseMs * 0.5, leaseMs * 1.1])
  return {
    name: `s${i}`,
    ms,
    throws: chance(seed, `${name} throws`) < 0.08 ? pick(seed, `${name} times`, 1, 3) : 0,
    deaf: chance(seed, `${name} deaf`) < 0.3,
  }
}

/** What one step hands on: unique to its execution, so that a second execution cannot look like the first. */
export interface StepValue {
  step: string
  execution: number
}

export function defineWorkload(durably: Durably, process: SimProcess, ledger: SimLedger) {
  const runSteps = async (ctx: JobContext, steps: PlannedStep[], generation: number, shape: PlannedRun['shape']): Promise<StepValue[]> => {
    const step = (planned: PlannedStep) =>
      ctx.run(planned.name, ({ signal }) => work(process, ledger, ctx.runId, planned, generation, signal))
    if (shape === 'fan') return Promise.all(steps.map(step))
    const values: StepValue[] = []
    for (const [i, planned] of steps.entries()) {
      values.push(await step(planned))
      ctx.progress(i + 1, steps.length)
    }
    return values
  }
  return new Map(
    SHAPES.map((shape) => [
      shape,
      durably.defineJob({ name: shape, input: anything<{ steps: PlannedStep[] }>() }, async (ctx, { steps }) => {
        const generation = process.generationOf(ctx.runId)
        const execution = ledger.enterJob(process.name, ctx.runId, generation, process.env.mono())
        try {
          return await runSteps(ctx, steps, generation, shape)
        } finally {
          if (process.alive) execution.endedAt = process.env.mono()
        }
      }),
    ]),
  )
}

async function work(
  process: SimProcess,
  ledger: SimLedger,
  runId: string,
  planned: PlannedStep,
  generation: number,
  signal: AbortSignal,
): Promise<StepValue> {
  const before = ledger.effects.filter((effect) => effect.runId === runId && effect.step === planned.name).length
  const effect = ledger.enterStep(process.name, runId, planned.name, generation, process.env.mono(), signal.aborted)
  await passTime(process, planned, signal)
  effect.endedAt = process.env.mono()
  effect.outcome = before < planned.throws || (signal.aborted && !planned.deaf) ? 'threw' : 'returned'
  if (effect.outcome === 'threw') throw new Error(`${planned.name} threw`)
  return { step: planned.name, execution: before }
}

function passTime(process: SimProcess, { ms, deaf }: PlannedStep, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = process.env.timer(ms, resolve)
    if (deaf) return
    signal.addEventListener('abort', () => {
      process.env.clear(timer)
      resolve()
    })
  })
}

function anything<T>(): StandardSchemaV1<T, T> {
  return { '~standard': { version: 1, vendor: 'durably', validate: (value) => ({ value: value as T }) } }
}
