// SimClient — a program that triggers runs, and cancels, retries and purges them. Its process dies like any other; the next one triggers
// again what was never acknowledged, and does not repeat the commands of the last one.
import type { Durably } from '../../durably.ts'
import { isPassing } from '../../model/errors.ts'
import { pick } from './chance.ts'
import type { PlannedRun } from './planned-run.ts'
import type { SimLedger } from './sim-ledger.ts'
import { SimProcess, type SimWorld } from './sim-process.ts'
import type { SimJobs } from './workload.ts'

const AGAIN_MS = 1000
const RESTART_MS_MAX = 10_000

type Command = (durably: Durably) => Promise<unknown>

export interface SimClientDeps {
  world: SimWorld
  ledger: SimLedger
  /** Opens the engine in a process of the client. */
  open: (process: SimProcess) => { durably: Durably; jobs: SimJobs }
}

interface Life {
  process: SimProcess
  durably: Durably
  jobs: SimJobs
  /** Commands that are not answered yet. */
  asked: number
}

export class SimClient {
  readonly #deps: SimClientDeps
  /** The runs that are to be triggered by now and were not acknowledged. */
  readonly #due = new Set<PlannedRun>()
  /** Commands for the next process, while there is none. */
  #commands: Command[] = []
  #lives = 0
  #life: Life | null = null

  constructor(deps: SimClientDeps, runs: readonly PlannedRun[]) {
    this.#deps = deps
    this.#live()
    for (const planned of runs)
      deps.world.base.timer(planned.atMs, () => {
        this.#due.add(planned)
        if (this.#life) void this.#trigger(this.#life, planned)
      })
  }

  /** It waits for answers, or will send requests after its restart. */
  get isBusy(): boolean {
    return this.#due.size > 0 || this.#commands.length > 0 || (this.#life?.asked ?? 0) > 0
  }

  /** Sends a command and ignores the answer. */
  command(command: Command): void {
    if (this.#life) void this.#ask(this.#life, command)
    else this.#commands.push(command)
  }

  #live(): void {
    const { world, open } = this.#deps
    const process = new SimProcess(`client.${this.#lives++}`, { ...world, onDeath: () => this.#died(process) })
    const life = { process, ...open(process), asked: 0 }
    this.#life = life
    for (const planned of this.#due) void this.#trigger(life, planned)
    for (const command of this.#commands.splice(0)) void this.#ask(life, command)
  }

  #died(process: SimProcess): void {
    const { world } = this.#deps
    this.#life = null
    world.onDeath(process)
    world.base.timer(pick(world.seed, `restart of ${process.name}`, 100, RESTART_MS_MAX), () => this.#live())
  }

  async #trigger(life: Life, planned: PlannedRun): Promise<void> {
    const { job, steps, spoiled, idempotencyKey, concurrencyKey, holdKey, labels, delayMs, deadlineMs } = planned
    const options = {
      ...(idempotencyKey && { idempotencyKey }),
      ...(concurrencyKey && { concurrencyKey }),
      ...(holdKey && { holdKey }),
      ...(labels && { labels }),
      ...(delayMs !== undefined && { delay: delayMs }),
      ...(deadlineMs !== undefined && { deadline: deadlineMs }),
    }
    const askedAt = this.#deps.ledger.place()
    try {
      const run = await life.jobs.get(job)?.trigger({ steps, ...(spoiled && { spoiled }), ...(labels && { labels }) }, options)
      this.#due.delete(planned)
      if (run)
        this.#deps.ledger.acknowledged.push({
          kind: 'triggered',
          runId: run.id,
          jobName: job,
          idempotencyKey: idempotencyKey ?? null,
          askedAt,
        })
    } catch (error) {
      if (!isPassing(error)) throw error
      life.process.env.timer(AGAIN_MS, () => void this.#trigger(life, planned))
    }
  }

  async #ask(life: Life, command: Command): Promise<void> {
    life.asked++
    await command(life.durably).catch(() => {})
    life.asked--
  }
}
