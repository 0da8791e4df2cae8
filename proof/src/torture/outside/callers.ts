// Callers — they keep enough orders open, and have each of them triggered by three processes at once.
import { createDurably, type Durably } from '../../../../packages/durably/dist/durably.js'
import { patiently } from '../patiently.ts'
import type { People, PeopleDeps } from '../workloads.ts'
import { type PlannedOrder, planFanOut, planOrder } from './order-plan.ts'

const TRIGGERED_BY = 3
/** For each process: enough that no worker is ever idle, few enough that all of it ends soon after the storm. */
const OPEN_PER_PROCESS = 3
const FAN_OUT_EVERY_MS = 5000

export class Callers implements People {
  readonly #deps: PeopleDeps
  readonly #durably: Durably
  #planned = 0
  #fannedOutAt = Number.NEGATIVE_INFINITY

  constructor(deps: PeopleDeps) {
    this.#deps = deps
    this.#durably = createDurably({ store: deps.place.store })
  }

  async act(): Promise<void> {
    const { crew, faults, seed } = this.#deps
    const filter = { jobName: 'order', limit: OPEN_PER_PROCESS * crew.size } as const
    const open = await patiently(async () => [
      ...(await this.#durably.getRuns({ ...filter, status: 'pending' })),
      ...(await this.#durably.getRuns({ ...filter, status: 'running' })),
    ])
    if (open.length < filter.limit) this.#trigger(planOrder(seed, this.#planned++))
    const isFannedOut = open.some(({ payload }) => (payload as PlannedOrder).fanOut > 0)
    if (!faults.has('fan-out') || isFannedOut || performance.now() - this.#fannedOutAt < FAN_OUT_EVERY_MS) return
    this.#fannedOutAt = performance.now()
    this.#trigger(planFanOut(this.#planned++))
  }

  /** An order that no process could send, because all died before, was never sent. */
  #trigger(plan: PlannedOrder): void {
    const any = this.#deps.crew.awake.toSorted(() => Math.random() - 0.5)
    for (const process of any.slice(0, TRIGGERED_BY)) process.send({ type: 'trigger', plan })
  }
}
