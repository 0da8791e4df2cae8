import type { ClusterStore } from '../../cluster/cluster.ts'
import { sqlDefinitions } from '../shared/definitions.ts'
import { sqlAudit } from '../shared/find-audit.ts'
import { sqlInbox } from '../shared/inbox.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import { sqlLeaders } from '../shared/leaders.ts'
import { sqlSchedules } from '../shared/schedules.ts'
import { sqlSettings } from '../shared/settings.ts'
import { sqlWorkers } from '../shared/workers.ts'
import { assignRuns } from './assign.ts'
import type { Claims } from './claim.ts'
import { deliverEvents } from './deliver.ts'
import { fireSchedules } from './fire.ts'

export function postgresCluster(deps: LazyDeps, claims: Claims): ClusterStore {
  return {
    ...sqlLeaders(deps),
    ...sqlSchedules(deps),
    ...fireSchedules(deps),
    ...sqlWorkers(deps),
    ...assignRuns(deps, claims),
    ...sqlInbox(deps),
    ...deliverEvents(deps),
    ...sqlDefinitions(deps),
    ...sqlSettings(deps),
    ...sqlAudit(deps),
  }
}
