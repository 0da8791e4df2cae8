import type { Joined, Joining } from '../worker.ts'
import type { PlannedOrder } from './order-plan.ts'
import { defineOrders } from './orders.ts'
import { Outsider } from './outsider.ts'
import { Stillness } from './stillness.ts'

/** One process of the outside workload: a worker, or somebody who asks. */
export function joinOutside({ engine, setup, ledger, options }: Joining): Joined {
  const durably = engine.createDurably({ logger: false, ...options }).use(engine.withLogPersistence())
  const { name: processName, ledgerFolder, seat, role } = setup
  const triggerOrder = defineOrders({ engine, durably, ledger, ledgerFolder, processName, stillness: new Stillness() })
  const outsider = role === 'outsider' ? new Outsider({ engine, durably, ledger, seat }) : null
  void outsider?.live()
  return {
    durably,
    async trigger(plan) {
      const { key } = plan as PlannedOrder
      const { id: runId } = await triggerOrder(plan as PlannedOrder)
      ledger.acknowledge({ kind: 'triggered', runId, jobName: 'order', idempotencyKey: key })
    },
    leave: () => outsider?.leave(),
  }
}
