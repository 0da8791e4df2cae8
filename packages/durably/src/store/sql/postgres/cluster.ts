import type { ClusterStore } from '../../cluster/cluster.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import { sqlLeaders } from '../shared/leaders.ts'
import { sqlSchedules } from '../shared/schedules.ts'
import { fireSchedules } from './fire.ts'

export function postgresCluster(deps: LazyDeps): ClusterStore {
  return { ...sqlLeaders(deps), ...sqlSchedules(deps), ...fireSchedules(deps) }
}
