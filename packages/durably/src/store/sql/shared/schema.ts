// The tables as Kysely sees them. Seed 000's columns keep their names; what decides is INTEGER milliseconds.
import { type RawBuilder, sql } from 'kysely'
import type { AuditAction, AuditKind } from '../../../model/audit.ts'
import { DurablyError } from '../../../model/errors.ts'
import type { EventType } from '../../../model/event.ts'
import type { LogLevel } from '../../../model/log.ts'
import type { FailureReason, RunStatus } from '../../../model/run.ts'
import type { Misfire, Overlap } from '../../../model/schedule.ts'
import type { StepStatus } from '../../../model/step.ts'
import type { WorkerState } from '../../cluster/workers.ts'

/** With a `tablePrefix` the real names carry it; see `Tables`. */
export interface DurablyTables {
  runs: RunsTable
  steps: StepsTable
  logs: LogsTable
  run_events: RunEventsTable
  signals: SignalsTable
  run_labels: RunLabelsTable
  leaders: LeadersTable
  schedules: SchedulesTable
  archive_removals: ArchiveRemovalsTable
  workers: WorkersTable
  inbox: InboxTable
  job_definitions: JobDefinitionsTable
  settings: SettingsTable
  audit: AuditTable
  schema_versions: SchemaVersionsTable
}

export interface RunsTable {
  id: string
  job_name: string
  payload: string | null
  status: RunStatus
  idempotency_key: string | null
  concurrency_key: string | null
  current_step_index: number
  progress: string | null
  output: string | null
  error: string | null
  heartbeat_at: string
  created_at: string
  updated_at: string
  failure: string | null
  reason: FailureReason | null
  version: number
  run_at: number
  lease_generation: number
  lease_owner: string | null
  lease_expires_at: number | null
  lease_writes: number
  cancel_requested_at: number | null
  recoveries: number
  started_at: number | null
  finished_at: number | null
  last_event_sequence: number
  streams: string | null
  attempts: number
  deadline_at: number | null
  waiting_for: string | null
  signals: number
  effects: string | null
  parent_run_id: string | null
  parent_step: string | null
  retry_generation: number
  labels: string | null
  schedule_id: string | null
  scheduled_for: number | null
  log_ref: string | null
  worker_id: string | null
  confirm_ms: number | null
  continuation_state: 'CONFIRMING' | null
  continuation_check_deadline_at: number | null
  assigned_worker_id: string | null
  assigned_at: number | null
  assign_count: number
  leader_epoch: number | null
  /** 1 or null. */
  unchecked: number | null
  /** 1, or nothing. */
  hold_key: number | null
  prefer_worker_id: string | null
}

export interface StepsTable {
  id: string
  run_id: string
  name: string
  index: number
  status: StepStatus
  output: string | null
  error: string | null
  started_at: string
  completed_at: string | null
  failure: string | null
  lease_generation: number
}

export interface LogsTable {
  id: string
  run_id: string
  step_name: string | null
  level: LogLevel
  message: string
  data: string | null
  timestamp: string
}

export interface RunEventsTable {
  run_id: string
  seq: number
  event_type: EventType
  payload: string
  created_at: string
}

export interface SignalsTable {
  id: string
  run_id: string
  name: string
  value: string | null
  created_at: string
}

/** By which runs are found; what a run has is in its own row. */
export interface RunLabelsTable {
  name: string
  value: string
  run_id: string
}

/** One row: who leads, or led last. */
export interface LeadersTable {
  name: string
  epoch: number
  worker_id: string
  token: string
  elected_at: number
  expires_at: number
}

export interface SchedulesTable {
  id: string
  job_name: string
  cron: string | null
  every_ms: number | null
  timezone: string
  payload: string | null
  misfire: Misfire
  misfire_max: number
  overlap: Overlap
  jitter_ms: number
  concurrency_key: string | null
  labels: string | null
  /** 0 or 1. */
  paused: number
  next_at: number
  last_scheduled_for: number | null
  version: number
  leader_epoch: number
  created_at: number
  updated_at: number
}

/** Deleted runs whose files in the archive are to be removed. */
export interface ArchiveRemovalsTable {
  run_id: string
}

/** The register of workers. */
export interface WorkersTable {
  id: string
  token: string
  labels: string
  capacity: number
  job_names: string
  version: string | null
  state: WorkerState
  attached_at: number
  heartbeat_at: number
  expires_at: number
}

/** Events that were sent. */
export interface InboxTable {
  id: string
  name: string
  /** Null once it was delivered: its runs have it. */
  data: string | null
  dedupe_key: string | null
  leader_epoch: number | null
  created_at: number
  processed_at: number | null
}

/** What workers say of their jobs. */
export interface JobDefinitionsTable {
  name: string
  /** JSON Schema. */
  input: string | null
  /** JSON. */
  subscriptions: string | null
  version: number
  updated_at: number
}

/** One row. */
export interface SettingsTable {
  name: string
  /** JSON. */
  value: string
  version: number
  updated_at: number
  updated_by: string | null
}

/** Who did what. */
export interface AuditTable {
  id: string
  created_at: number
  actor: string
  action: AuditAction
  target_kind: AuditKind
  target_id: string
  version: number | null
  /** JSON. */
  detail: string | null
}

export interface SchemaVersionsTable {
  version: number
  applied_at: string
  oldest_code: number | null
}

/** The real names, for use in `sql` templates. */
export interface Tables {
  runs: RawBuilder<unknown>
  steps: RawBuilder<unknown>
  logs: RawBuilder<unknown>
  events: RawBuilder<unknown>
  signals: RawBuilder<unknown>
  labels: RawBuilder<unknown>
  leaders: RawBuilder<unknown>
  schedules: RawBuilder<unknown>
  removals: RawBuilder<unknown>
  workers: RawBuilder<unknown>
  inbox: RawBuilder<unknown>
  definitions: RawBuilder<unknown>
  settings: RawBuilder<unknown>
  audit: RawBuilder<unknown>
  versions: RawBuilder<unknown>
  /** Index names live in the same namespace as tables, so they carry the prefix too. A new index is put where its table is. */
  index(name: string): RawBuilder<unknown>
  /** An index that is there: to drop it, one must say where. */
  oldIndex(name: string): RawBuilder<unknown>
}

/** No capital letters: SQLite would take `a_` and `A_` for the same tables, Postgres would not. */
const PREFIX = /^([a-z_][a-z0-9_]{0,31})?$/

/** The tables are named with their schema, if one is given: what `search_path` says does not matter, and a pooler may change it at any time. */
export function tablesOf(prefix: string, schema?: string): Tables {
  if (!PREFIX.test(prefix)) {
    throw new DurablyError(
      'invalid_config',
      `tablePrefix ${JSON.stringify(prefix)} must be at most 32 of a-z, 0-9 and _, beginning with no digit`,
    )
  }
  const index = (name: string) => sql.id(prefix + name)
  const named = (name: string) => (schema ? sql.id(schema, prefix + name) : index(name))
  return {
    runs: named('runs'),
    steps: named('steps'),
    logs: named('logs'),
    events: named('run_events'),
    signals: named('signals'),
    labels: named('run_labels'),
    leaders: named('leaders'),
    schedules: named('schedules'),
    removals: named('archive_removals'),
    workers: named('workers'),
    inbox: named('inbox'),
    definitions: named('job_definitions'),
    settings: named('settings'),
    audit: named('audit'),
    versions: named('schema_versions'),
    index,
    oldIndex: named,
  }
}
