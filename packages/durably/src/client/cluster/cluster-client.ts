// ClusterClient — one interface to schedules, workers, the leader, settings and the audit, in the same process or across HTTP.
import type { AuditFilter } from '../../cluster/audit.ts'
import type { ElectedProcess } from '../../cluster/leader.ts'
import type { Worker } from '../../cluster/registered-workers.ts'
import type { ScheduleSettings } from '../../cluster/schedule-options.ts'
import type { ClusterSettings, SettingsChange } from '../../cluster/settings.ts'
import type { AuditEntry } from '../../model/audit.ts'
import type { PageOptions } from '../../model/page-options.ts'
import type { Run } from '../../model/run.ts'
import type { Schedule } from '../../model/schedule.ts'
import type { IfVersion } from '../../store/runs.ts'

/** What `schedules.put` of a client is given. Give either `cron` or `every`. */
export interface ScheduleRequest extends ScheduleSettings {
  /** The name of the job whose runs it creates. */
  job: string
  /** The input of each run. */
  payload?: unknown
}

/** The schedules of the database. */
export interface ClientSchedules {
  /** Creates a schedule, or defines it anew, and returns it. If nothing differs, nothing is written. */
  put(id: string, schedule: ScheduleRequest, condition?: IfVersion): Promise<Schedule>
  /** Reads all schedules, by id, or a page of them; `cursor` is the last id of the page before. */
  list(options?: PageOptions): Promise<Schedule[]>
  /** Reads one schedule. Null if there is no such schedule. */
  get(id: string): Promise<Schedule | null>
  /** The next times of a schedule, as ISO-8601 text. Default 5, at most 1000. */
  next(id: string, count?: number): Promise<string[]>
  /** Lets a schedule create no more runs until `resume`. */
  pause(id: string, condition?: IfVersion): Promise<Schedule>
  /** Lets a paused schedule go on with its next time. */
  resume(id: string, condition?: IfVersion): Promise<Schedule>
  /** Creates a run of a schedule now. */
  trigger(id: string, condition?: IfVersion): Promise<Run>
  /** Removes a schedule. Its runs stay. */
  delete(id: string, condition?: IfVersion): Promise<void>
}

/** The workers in the register of the database. */
export interface ClientWorkers {
  /** Reads all workers, by name. */
  list(): Promise<Worker[]>
  /** Lets a worker have runs again. */
  attach(workerId: string): Promise<void>
  /** Gives a worker no more runs; it executes those that it has. */
  drain(workerId: string): Promise<void>
  /** Lets a worker start nothing more. */
  detach(workerId: string): Promise<void>
}

/** The settings that all processes share. */
export interface ClientSettings {
  /** Reads the settings. */
  get(): Promise<ClusterSettings>
  /** Changes settings for all processes, and returns all of them. Over HTTP, the principal of the request is the actor. */
  set(change: SettingsChange, condition?: IfVersion): Promise<ClusterSettings>
}

/** Who did what. */
export interface ClientAudit {
  /** Reads the entries that match, the newest first. */
  list(filter?: AuditFilter): Promise<AuditEntry[]>
}

/** What people who operate many processes use: made by `httpClusterClient` or `localClusterClient`. */
export interface ClusterClient {
  /** The schedules of the database. */
  readonly schedules: ClientSchedules
  /** The workers in the register of the database. */
  readonly workers: ClientWorkers
  /** The settings that all processes share. */
  readonly settings: ClientSettings
  /** Who did what: the entries of commands that had an actor, and of elections. */
  readonly audit: ClientAudit
  /** Reads which process is elected, or was last. Null if none ever was. */
  leader(): Promise<ElectedProcess | null>
}
