import type { ClusterStore } from '../../cluster/cluster.ts'
import type { LateDeps } from '../shared/late-deps.ts'
import { sqlLeaders } from '../shared/leaders.ts'
import { sqlSchedules } from '../shared/schedules.ts'
import { fireSchedules } from './fire.ts'

export function sqliteCluster(deps: LateDeps): ClusterStore {
  return { ...sqlLeaders(deps), ...sqlSchedules(deps), ...fireSchedules(deps) }
}
