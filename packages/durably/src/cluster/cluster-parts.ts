import { Audit } from './audit.ts'
import { Definitions } from './definitions.ts'
import { ForeignJobs, type ForeignJobsDeps } from './foreign-jobs.ts'
import { Inbox, type InboxDeps } from './inbox.ts'
import { Leaders } from './leader.ts'
import { RegisteredWorkers } from './registered-workers.ts'
import { Schedules, type SchedulesDeps } from './schedules.ts'
import { Settings } from './settings.ts'

export interface ClusterDeps extends SchedulesDeps, InboxDeps, ForeignJobsDeps {
  cluster: InboxDeps['cluster']
}

/** What callers use of the cluster. */
export class ClusterParts {
  readonly schedules: Schedules
  readonly inbox: Inbox
  readonly definitions: Definitions
  readonly foreignJobs: ForeignJobs
  readonly leaders: Leaders
  readonly settings: Settings
  readonly audit: Audit
  readonly workers: RegisteredWorkers

  constructor(deps: ClusterDeps) {
    this.schedules = new Schedules(deps)
    this.inbox = new Inbox(deps)
    this.definitions = new Definitions(deps)
    this.foreignJobs = new ForeignJobs(deps)
    this.leaders = new Leaders(deps)
    this.settings = new Settings(deps)
    this.audit = new Audit(deps)
    this.workers = new RegisteredWorkers(deps)
  }
}
