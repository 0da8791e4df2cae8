import { publishingCluster } from '../events/publishing-cluster.ts'
import { DurablyError } from '../model/errors.ts'
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { Change } from '../store/notifier.ts'
import { type Duties, ElectedDuties } from './duties.ts'
import type { FireDeps } from './fire-due.ts'

export interface DutiesDeps extends Omit<FireDeps, 'cluster'> {
  /** Absent if the store has no such chapter; then no probe says that something is due. */
  cluster: ClusterStore | undefined
  publish: (change: Change) => void
}

/** `workerId`: the name of this process. */
export function dutiesOf({ cluster, publish, ...deps }: DutiesDeps, workerId: string): Duties {
  if (!cluster) throw new DurablyError('schedules_unsupported', 'the store of this instance announces duties, but has no chapter `cluster`')
  return new ElectedDuties({ ...deps, cluster: publishingCluster(cluster, publish), workerId })
}
