// The jobs of the outside workload, as somebody writes them who has read the guides: an order with every kind of step, its
// children, and a run with very many children. Each function writes down what it really did.
import type { Durably, JobContext, JobHandle, Run, StepContext } from '../../../../packages/durably/dist/index.js'
import type { WorkerEngine } from '../engine-bundle.ts'
import { findNote, type LedgerWriter, sharedClock } from '../ledger.ts'
import { ANYTHING, passTime } from '../workload.ts'
import { LEGS } from './bookings.ts'
import type { OutsideNote, TookPlace } from './notes.ts'
import type { PartName, PlannedOrder } from './order-plan.ts'
import type { Stillness } from './stillness.ts'

export interface OrderDeps {
  engine: Pick<WorkerEngine, 'retry'>
  durably: Durably
  ledger: LedgerWriter
  ledgerFolder: string
  processName: string
  stillness: Stillness
}

/** A transaction that is too slow for its limit fails, and is tried again; nothing else here ever fails. */
const TRIES = { maxAttempts: 1000, delay: 50 }

export type TriggerOrder = (plan: PlannedOrder) => Promise<Run>

/** Defines the jobs on an instance, and answers how it triggers an order. */
export function defineOrders(deps: OrderDeps): TriggerOrder {
  const { durably, engine, ledger } = deps
  const leaf = durably.defineJob({ name: 'leaf', input: ANYTHING }, async (ctx, payload) => {
    const { by } = payload as { by: string }
    const execution = ledger.enterJob(ctx.runId, 0)
    const value = await ctx.run('grow', (step) => new Work(deps, ctx, execution).function('grow', 0, true, step))
    ledger.exit(execution, 'returned')
    return `${value} for ${by}`
  })
  const order = durably.defineJob({ name: 'order', input: ANYTHING, retry: engine.retry.fixed(TRIES) }, async (ctx, payload) => {
    const plan = payload as PlannedOrder
    const entry = ledger.enterJob(ctx.runId, 0)
    try {
      if (plan.fanOut > 0) return await fanOut(ctx, leaf, plan.fanOut)
      return await new Work(deps, ctx, entry).all(plan, leaf)
    } finally {
      ledger.exit(entry, 'returned')
    }
  })
  return (plan) => order.trigger(plan, { idempotencyKey: plan.key })
}

type Leaf = JobHandle<string, unknown, string>

async function fanOut(ctx: JobContext, leaf: Leaf, children: number): Promise<Record<string, unknown>> {
  const values = await Promise.all(
    Array.from({ length: children }, async (_, i) => {
      const name = `leaf ${i}`
      const by = { by: `${ctx.runId}/${name}` }
      return [name, i % 2 === 0 ? await ctx.invoke(leaf, by, { name }) : await ctx.trigger(leaf, by, { name })] as const
    }),
  )
  return Object.fromEntries(values)
}

let attempts = 0

/** What one execution of a job does. */
class Work {
  readonly #deps: OrderDeps
  readonly #ctx: JobContext
  readonly #execution: number
  readonly #calledAt = sharedClock()

  constructor(deps: OrderDeps, ctx: JobContext, execution: number) {
    this.#deps = deps
    this.#ctx = ctx
    this.#execution = execution
  }

  /** Answers what each part came to, by its name. */
  async all(plan: PlannedOrder, leaf: Leaf): Promise<Record<string, unknown>> {
    const { runId } = this.#ctx
    const values: Record<string, unknown> = {}
    for (const stage of plan.stages) {
      await Promise.all(
        stage.map(async (part) => {
          values[part] = await this.#do(part, plan, leaf)
          // What a replay sees as well: it must be what was recorded.
          if (part !== 'approval') this.#deps.ledger.acknowledge({ kind: 'step', runId, step: part }, values[part])
        }),
      )
    }
    return values
  }

  #do(part: PartName, plan: PlannedOrder, leaf: Leaf): Promise<unknown> {
    const { runId } = this.#ctx
    const by = { by: `${runId}/${part}` }
    switch (part) {
      case 'book':
        return this.#book(leaf)
      case 'letter':
        return this.#letter(plan)
      case 'charge':
        return this.#charge(plan)
      case 'invoice':
        return this.#ctx.invoke(leaf, by, { name: part })
      case 'mail':
        return this.#ctx.trigger(leaf, by, { name: part })
      case 'rest':
        return this.#rest(plan.sleepMs)
      case 'approval':
        return this.#ctx.waitFor('approval')
      default:
        return this.#ctx.run(part, (step) => this.function(part, plan.ms[part] ?? 0, plan.deaf, step))
    }
  }

  async function(name: string, ms: number, deaf: boolean, { signal }: StepContext): Promise<string> {
    const entry = this.#enter(name, signal)
    await passTime({ ms, deaf }, signal)
    return this.#leave(entry, name, deaf, signal)
  }

  #charge({ ms = {}, deaf }: PlannedOrder): Promise<string> {
    const { runId } = this.#ctx
    const half = { ms: (ms.charge ?? 0) / 2, deaf }
    return this.#ctx.run('charge', { effect: 'once', reconcile: () => this.#reconcile() }, async ({ signal }) => {
      const entry = this.#enter('charge', signal, true)
      await passTime(half, signal)
      const value = this.#leave(entry, 'charge', deaf, signal, false)
      this.#note({ kind: 'took place', runId, step: 'charge', value }, true)
      await passTime(half, signal)
      this.#deps.ledger.exit(entry, 'returned')
      return value
    })
  }

  /** Looks into the world outside. */
  #reconcile(): { done: string } | 'run again' {
    const { runId } = this.#ctx
    const isIt = (note: unknown): note is TookPlace => (note as OutsideNote).kind === 'took place' && (note as TookPlace).runId === runId
    const found = findNote(this.#deps.ledgerFolder, `"took place","runId":"${runId}"`, isIt)
    this.#note({ kind: 'reconciled', runId, step: 'charge', wasNot: found === null })
    return found === null ? 'run again' : { done: found.value }
  }

  /** Two rows and a run, so that half of it would show. */
  #book(leaf: Leaf): Promise<string> {
    const { runId, signal } = this.#ctx
    return this.#ctx.transaction('book', async (trx) => {
      const entry = this.#enter('book', signal)
      const value = this.#name('book')
      for (const leg of LEGS) await trx.insertInto('bookings').values({ run_id: runId, leg, booked_by: value }).execute()
      await leaf.trigger({ by: `${runId}/book` }, { tx: trx })
      this.#deps.ledger.exit(entry, 'returned')
      return value
    })
  }

  /** Every line says who wrote it, so that a text shows what it is made of. The checkpoint is the text so far. */
  #letter({ lines, ms, deaf }: PlannedOrder): Promise<string> {
    const { runId } = this.#ctx
    return this.#ctx.stream<string, { text: string }>('letter', async (emit, checkpoint, { signal }) => {
      const entry = this.#enter('letter', signal)
      const attempt = this.#name('letter')
      let text = checkpoint.state?.text ?? ''
      this.#note({ kind: 'letter', attempt, runId, given: text, calledAt: this.#calledAt, stillMs: this.#deps.stillness.ms })
      for (let i = text.split('\n').length - 1; i < lines; i++) {
        const line = `${i} ${attempt}\n`
        this.#note({ kind: 'line', attempt, text: line })
        text += line
        await emit(line)
        await passTime({ ms: ms.letter ?? 0, deaf }, signal)
        if (i % 2 === 0) continue
        this.#note({ kind: 'asks for checkpoint', attempt, text })
        await checkpoint({ text })
        this.#note({ kind: 'has checkpoint', attempt, text })
      }
      this.#leave(entry, 'letter', deaf, signal)
      return text
    })
  }

  async #rest(ms: number): Promise<null> {
    const { runId } = this.#ctx
    this.#note({ kind: 'calls sleep', runId, step: 'rest', ms })
    await this.#ctx.sleep('rest', ms)
    this.#note({ kind: 'awake', runId, step: 'rest' })
    return null
  }

  #enter(step: string, signal: AbortSignal, once = false): number {
    const { ledger, stillness } = this.#deps
    const { runId } = this.#ctx
    const [execution, stillMs] = [this.#execution, stillness.ms]
    return ledger.enterStep({ runId, step, generation: 0, wasAborted: signal.aborted, once, execution, stillMs })
  }

  /** Unique to this execution, so that a second one cannot look like the first. Throws when it was asked to stop and heeds that. */
  #leave(entry: number, name: string, deaf: boolean, signal: AbortSignal, isOver = true): string {
    const { ledger } = this.#deps
    const stops = signal.aborted && !deaf
    if (isOver || stops) ledger.exit(entry, stops ? 'unfinished' : 'returned')
    if (stops) throw new Error(`${name} stopped when it was asked to`)
    return this.#name(name)
  }

  #name(step: string): string {
    return `${step} by ${this.#deps.processName}#${attempts++}`
  }

  #note(note: OutsideNote, isEffect = false): void {
    this.#deps.ledger.note(note, { isEffect })
  }
}
