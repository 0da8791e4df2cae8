import type { ClusterStore } from '../../cluster/cluster.ts'
import type { ClusterDeps } from '../shared/cluster-deps.ts'
import { sqlLeaders } from '../shared/leaders.ts'
import { sqlSchedules } from '../shared/schedules.ts'
import { fireSchedules } from './fire.ts'

export function postgresCluster(deps: ClusterDeps): ClusterStore {
  return { ...sqlLeaders(deps), ...sqlSchedules(deps), ...fireSchedules(deps) }
}
