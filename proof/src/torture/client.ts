// Client — the people around the workers: they trigger, sometimes the same thing twice at once, cancel and retry.
import { createDurably, type Durably } from '../../../packages/durably/dist/durably.js'
import { LedgerWriter, UNSETTLED } from './ledger.ts'
import { settles } from './settles.ts'
import { defineWorkload, planRun, type TriggerPlanned } from './workload.ts'
import type { People, PeopleDeps } from './workloads.ts'

/** Enough that no worker is ever idle, few enough that all of it ends soon after the storm. */
const WAITING_MAX = 16
const CANCELS = 0.04
const RETRIES = 0.1

export class Client implements People {
  readonly #deps: PeopleDeps
  readonly #durably: Durably
  readonly #ledger: LedgerWriter
  readonly #trigger: TriggerPlanned
  #planned = 0

  constructor(deps: PeopleDeps) {
    this.#deps = deps
    this.#ledger = new LedgerWriter(deps.ledgerFolder, 'client')
    this.#durably = createDurably({ store: deps.place.client })
    this.#trigger = defineWorkload(this.#durably, 'client', this.#ledger)
  }

  /** One round, of several at once: fills up what is waiting, half of it in lanes, and gives a command now and then. */
  async act(): Promise<void> {
    const acted = this.#act().catch((error) => {
      // A call that was not acknowledged promises nothing, but its error is recorded.
      this.#ledger.trouble(String(Reflect.get(Object(error), 'code')))
    })
    if (!(await settles(acted))) this.#ledger.trouble(UNSETTLED)
  }

  async #act(): Promise<void> {
    const { runs } = this.#deps.place.client
    const waiting = await runs.list({ statuses: ['pending'] })
    const inLanes = waiting.filter(({ concurrencyKey }) => concurrencyKey !== null).length
    if (inLanes < WAITING_MAX) await this.#plan(true)
    if (waiting.length - inLanes < WAITING_MAX) await this.#plan(false)
    if (Math.random() < CANCELS) await this.#command('cancel', oneOf([...waiting, ...(await runs.list({ statuses: ['running'] }))]))
    if (Math.random() < RETRIES) await this.#command('retry', oneOf(await runs.list({ statuses: ['failed'], limit: 50 })))
  }

  async #plan(inLane: boolean): Promise<void> {
    const { seed, place, crew } = this.#deps
    const plan = planRun(seed, this.#planned++, place.leaseMs, inLane)
    // A second click, in another process, at the same moment.
    if (plan.idempotencyKey !== null) for (const worker of crew.awake.slice(0, 2)) worker.send({ type: 'trigger', plan })
    await this.#trigger(plan)
  }

  async #command(command: 'cancel' | 'retry', run: { id: string } | undefined): Promise<void> {
    if (run) await this.#durably[command](run.id)
  }
}

function oneOf<T>(items: readonly T[]): T | undefined {
  return items[Math.floor(Math.random() * items.length)]
}
