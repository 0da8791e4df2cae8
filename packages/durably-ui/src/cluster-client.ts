// ClusterClient — what the pages of schedules, of workers and of the audit need to know. The engine's own answers fit into it.

/** Reads what exists beside the runs. Every part may be missing; its page is then left out. */
export interface ClusterClient {
  /** Reads the schedules, and acts on them. */
  readonly schedules?: ScheduleReader
  /** Reads the workers that are in the register. */
  readonly workers?: WorkerReader
  /** Reads which process is elected; null if none ever was. */
  leader?(): Promise<ListedLeader | null>
  /** Reads who did what. */
  readonly audit?: AuditReader
  /** Reads the settings that all processes share; they are shown with the audit. */
  readonly settings?: SettingsReader
}

/** Reads who did what. */
export interface AuditReader {
  /** Lists entries, the newest first. */
  list(filter: { readonly limit: number }): Promise<readonly ListedAuditEntry[]>
}

/** The part of an entry that is shown. */
export interface ListedAuditEntry {
  /** When it was done, as ISO-8601 text. */
  readonly at: string
  /** Who did it. */
  readonly actor: string
  /** What was done, such as `run:cancel`. */
  readonly action: string
  /** What it was done to. */
  readonly target: {
    /** What kind of thing, such as `run`. */
    readonly kind: string
    /** Its id. */
    readonly id: string
  }
  /** What else is known of it; null for nothing. */
  readonly detail: { readonly [name: string]: unknown } | null
}

/** Reads settings. */
export interface SettingsReader {
  /** Reads the settings: durations in milliseconds, null for those that each process decides, and who changed them when. */
  get(): Promise<object>
}

/** Reads schedules, and acts on them. */
export interface ScheduleReader {
  /** Lists schedules, by id. */
  list(): Promise<readonly ListedSchedule[]>
  /** Lets a schedule create no runs by itself. */
  pause?(id: string): Promise<unknown>
  /** Lets a schedule create runs again. */
  resume?(id: string): Promise<unknown>
  /** Creates a run of a schedule now. */
  trigger?(id: string): Promise<unknown>
}

/** The part of a schedule that is shown. */
export interface ListedSchedule {
  /** Its id. */
  readonly id: string
  /** The job whose runs it creates. */
  readonly jobName: string
  /** Its cron expression; null if it has an interval. */
  readonly cron: string | null
  /** Its interval in milliseconds; null if it has a cron expression. */
  readonly every: number | null
  /** The time zone of the cron expression. */
  readonly timezone: string
  /** True while it creates no runs by itself. */
  readonly paused: boolean
  /** The next time at which it creates a run, as ISO-8601 text; null while it is paused. */
  readonly nextAt: string | null
  /** The last time that was used, as ISO-8601 text; null before the first. */
  readonly lastScheduledFor: string | null
}

/** Reads workers. */
export interface WorkerReader {
  /** Lists the workers of the register, by name. */
  list(): Promise<readonly ListedWorker[]>
}

/** The part of a worker that is shown. */
export interface ListedWorker {
  /** Its name. */
  readonly id: string
  /** Whether it gets runs: `attached`, `draining` or `detached`. */
  readonly state: string
  /** True if it has not renewed its entry: its process is gone or cut off. */
  readonly isSilent: boolean
  /** How many runs it executes at once. */
  readonly capacity: number
  /** How many runs it executes now. */
  readonly running: number
  /** When it last renewed its entry, as ISO-8601 text. */
  readonly heartbeatAt: string
  /** The version of its code; null if it gave none. */
  readonly version: string | null
}

/** The elected process. */
export interface ListedLeader {
  /** Its worker's name. */
  readonly workerId: string
  /** Grows with each election. */
  readonly epoch: number
  /** When it was elected, as ISO-8601 text. */
  readonly electedAt: string
  /** Whether its time is not over. */
  readonly isLeading: boolean
}
