import { counted } from '../output/plural.ts'
import { workersAtWork } from '../register.ts'
import { type Check, ok } from './finding.ts'

/** Whether a worker is there at all that would take a run when it is due. No trouble if none is known: those without cluster() are not. */
export const checkWorkers: Check = async ({ durably }) => {
  const workers = await workersAtWork(durably)
  if (workers.length > 0)
    return ok('workers', `${counted(workers.length, 'worker')} in the register ${workers.length === 1 ? 'starts' : 'start'} runs`)
  return ok(
    'workers',
    'none is in the register, which has only those of durably worker and of processes that call cluster(); others execute runs as well',
  )
}
