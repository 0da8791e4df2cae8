// The jobs of a simulated world: chains and fans of steps and streams, short and as long as a lease, some of which throw.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Durably } from '../../durably.ts'
import type { Checkpoint, Emit, JobContext, StepContext } from '../../model/job.ts'
import { chance, oneOf, pick } from './chance.ts'
import { UNSTORABLE } from './rejecting-store.ts'
import type { SimLedger } from './sim-ledger.ts'
import type { SimProcess } from './sim-process.ts'

const SHAPES = ['chain', 'fan'] as const
const STREAMS_SHARE = 0.4
const IN_STEP_SHARE = 0.7
/** Two of them are more than what a stream gathers before it writes. */
const LONG_PART = 'x'.repeat(2500)

export interface PlannedStep {
  name: string
  ms: number
  /** Throws in its first executions, so many times. */
  throws: number
  /** Does not throw then, but returns what the store rejects. */
  unstorable: boolean
  /** Does not listen to its signal. */
  deaf: boolean
  /** Puts out something on its way; `null` for a plain step. */
  stream: PlannedStream | null
}

export interface PlannedStream {
  parts: number
  /** How many parts there are between two checkpoints; 0 for none. */
  checkpointEvery: number
  /** Does not wait for what it puts out. */
  hasty: boolean
}

export interface PlannedRun {
  shape: (typeof SHAPES)[number]
  steps: PlannedStep[]
  idempotencyKey: string | undefined
  concurrencyKey: string | undefined
  atMs: number
}

/** Half of the worlds have few workers with much to do at once; in the others work comes bit by bit, and gets into its own way. */
export function isRushHour(seed: number): boolean {
  return chance(seed, 'rush') < 0.5
}

export function planRuns(seed: number, leaseMs: number, withinMs: number): PlannedRun[] {
  const isRush = isRushHour(seed)
  const runs = isRush ? pick(seed, 'runs', 6, 12) : pick(seed, 'runs', 3, 8)
  return Array.from({ length: runs }, (_, n) => ({
    ...planRun(seed, `run ${n}`, leaseMs, withinMs),
    ...(isRush && { idempotencyKey: undefined, concurrencyKey: undefined, atMs: pick(seed, `crowd of ${n % 2}`, 0, withinMs) }),
  }))
}

function planRun(seed: number, name: string, leaseMs: number, withinMs: number): PlannedRun {
  return {
    shape: oneOf(seed, `${name} shape`, SHAPES),
    steps: Array.from({ length: pick(seed, `${name} steps`, 1, 4) }, (_, i) => planStep(seed, `${name} step ${i}`, i, leaseMs)),
    idempotencyKey: chance(seed, `${name} key`) < 0.5 ? `key-${pick(seed, `${name} which key`, 0, 3)}` : undefined,
    concurrencyKey: chance(seed, `${name} lane`) < 0.5 ? `lane-${pick(seed, `${name} which lane`, 0, 1)}` : undefined,
    atMs: pick(seed, `${name} time`, 0, withinMs),
  }
}

function planStep(seed: number, name: string, i: number, leaseMs: number): PlannedStep {
  // Most of them keep pace with the same step of other runs, so that they write at the same time.
  const pace = chance(seed, `${name} in step`) < IN_STEP_SHARE ? `step ${i}` : name
  return {
    name: `s${i}`,
    ms: oneOf(seed, `${pace} ms`, [0, 5, 400, 3000, leaseMs * 0.5, leaseMs * 1.1]),
    throws: chance(seed, `${name} throws`) < 0.08 ? pick(seed, `${name} times`, 1, 3) : 0,
    unstorable: chance(seed, `${name} unstorable`) < 0.4,
    deaf: chance(seed, `${name} deaf`) < 0.3,
    stream: chance(seed, `${pace} streams`) < STREAMS_SHARE ? planStream(seed, pace) : null,
  }
}

function planStream(seed: number, pace: string): PlannedStream {
  return {
    parts: pick(seed, `${pace} parts`, 1, 6),
    checkpointEvery: oneOf(seed, `${pace} checkpoints`, [0, 1, 2, 3]),
    hasty: chance(seed, `${pace} hasty`) < 0.3,
  }
}

/** What one step hands on: unique to its execution, so that a second execution cannot look like the first. */
export interface StepValue {
  step: string
  execution: number
  unstorable?: typeof UNSTORABLE
}

interface StreamState {
  next: number
  by: number
}

export function defineWorkload(durably: Durably, process: SimProcess, ledger: SimLedger) {
  const runSteps = async (ctx: JobContext, steps: PlannedStep[], generation: number, shape: PlannedRun['shape']): Promise<StepValue[]> => {
    const step = (planned: PlannedStep) => {
      const work = new Work(process, ledger, ctx.runId, generation, planned)
      return planned.stream === null
        ? ctx.run(planned.name, (step) => work.run(step))
        : ctx.stream<StepValue, StreamState>(planned.name, (emit, checkpoint, step) => work.stream(emit, checkpoint, step))
    }
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

/** What happens inside one step. */
class Work {
  readonly #process: SimProcess
  readonly #ledger: SimLedger
  readonly #runId: string
  readonly #generation: number
  readonly #planned: PlannedStep

  constructor(process: SimProcess, ledger: SimLedger, runId: string, generation: number, planned: PlannedStep) {
    this.#process = process
    this.#ledger = ledger
    this.#runId = runId
    this.#generation = generation
    this.#planned = planned
  }

  run({ signal }: StepContext): Promise<StepValue> {
    return this.#enter(signal, async () => {
      await this.#passTime(this.#planned.ms, signal)
      return !this.#isTold(signal)
    })
  }

  stream(emit: Emit, checkpoint: Checkpoint<StreamState>, { signal }: StepContext): Promise<StepValue> {
    return this.#enter(signal, async (throws) => {
      const which = { runId: this.#runId, step: this.#planned.name, generation: this.#generation }
      const entered = this.#ledger.enterStream(this.#process, { ...which, emit, checkpoint })
      const { parts, checkpointEvery, hasty } = this.#planned.stream ?? { parts: 0, checkpointEvery: 0, hasty: false }
      const done = (asked: Promise<void>) => (hasty ? void asked.catch(() => {}) : asked)
      try {
        for (let part = checkpoint.state?.next ?? 0; part < parts; part++) {
          await this.#passTime(this.#planned.ms / parts, signal)
          if (this.#isTold(signal) || (throws && part >= parts / 2)) return false
          await done(entered.emit(this.#part(part)))
          if (checkpointEvery > 0 && (part + 1) % checkpointEvery === 0)
            await done(entered.checkpoint({ next: part + 1, by: this.#generation }))
        }
        return true
      } finally {
        entered.leave()
      }
    })
  }

  /** Unique to the attempt, so that a second one cannot look like the first. */
  #part(part: number): unknown {
    const by = this.#generation
    const kind = (part + this.#planned.ms) % 4
    if (kind === 1) return { part, by }
    return `${part}/${by};${kind === 2 ? LONG_PART : ''}`
  }

  async #enter(signal: AbortSignal, body: (throws: boolean) => Promise<boolean>): Promise<StepValue> {
    const { name, throws, unstorable } = this.#planned
    const process = this.#process
    const before = this.#ledger.effects.filter((effect) => effect.runId === this.#runId && effect.step === name).length
    const effect = this.#ledger.enterStep(process.name, this.#runId, name, this.#generation, process.env.mono(), signal.aborted)
    const fails = before < throws
    const returned = await body(fails && !unstorable).catch(() => false)
    effect.endedAt = process.env.mono()
    effect.outcome = fails || !returned ? 'threw' : 'returned'
    if (fails && unstorable && returned) return { step: name, execution: before, unstorable: UNSTORABLE }
    if (effect.outcome === 'threw') throw new Error(`${name} threw`)
    return { step: name, execution: before }
  }

  #isTold(signal: AbortSignal): boolean {
    return signal.aborted && !this.#planned.deaf
  }

  #passTime(ms: number, signal: AbortSignal): Promise<void> {
    const { env } = this.#process
    return new Promise((resolve) => {
      const timer = env.timer(ms, resolve)
      if (this.#planned.deaf) return
      signal.addEventListener('abort', () => {
        env.clear(timer)
        resolve()
      })
    })
  }
}

function anything<T>(): StandardSchemaV1<T, T> {
  return { '~standard': { version: 1, vendor: 'durably', validate: (value) => ({ value: value as T }) } }
}
