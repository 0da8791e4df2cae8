import { publishingCluster } from '../events/publishing-cluster.ts'
import { DurablyError } from '../model/errors.ts'
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { DeliverDeps } from './deliver-due.ts'
import { type Duties, ElectedDuties } from './duties.ts'
import { Fleet } from './fleet.ts'
import type { FleetOptions } from './fleet-options.ts'

export interface DutiesDeps extends Omit<DeliverDeps, 'cluster'> {
  /** Absent if the store has no such chapter; then no probe says that something is due. */
  cluster: ClusterStore | undefined
  concurrency: number
  /** The jobs that this worker executes. */
  jobNames: () => string[]
}

/** `workerId`: the name of this process. `options`: null where it is not in the register. */
export function dutiesOf(deps: DutiesDeps, workerId: string, options: FleetOptions | null): { duties: Duties; fleet: Fleet | null } {
  const { cluster, publish } = deps
  if (!cluster) throw new DurablyError('schedules_unsupported', 'the store of this instance announces duties, but has no chapter `cluster`')
  const fleet = options && new Fleet({ ...deps, cluster }, options, workerId)
  return { fleet, duties: new ElectedDuties({ ...deps, cluster: publishingCluster(cluster, publish), workerId }, fleet) }
}
