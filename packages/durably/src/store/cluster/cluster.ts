import type { AssignmentStore } from './assignments.ts'
import type { AuditStore } from './audit.ts'
import type { DefinitionStore } from './definitions.ts'
import type { InboxStore } from './inbox.ts'
import type { LeaderStore } from './leaders.ts'
import type { ScheduleStore } from './schedules.ts'
import type { SettingsStore } from './settings.ts'
import type { WorkerStore } from './workers.ts'

/**
 * The chapter for what exactly one of all processes does, and for what processes know of each other. Each method is one transaction. It
 * resolves with what happened; if it rejects, the outcome is unknown, and it may be called again with the same arguments.
 */
export interface ClusterStore
  extends LeaderStore,
    ScheduleStore,
    WorkerStore,
    AssignmentStore,
    InboxStore,
    DefinitionStore,
    SettingsStore,
    AuditStore {}
