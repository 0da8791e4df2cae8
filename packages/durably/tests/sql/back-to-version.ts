// Takes back what later versions of the schema changed, one version after the other.

/** From version 19. */
export const BACK_TO_VERSION_17: Record<'sqlite' | 'postgres', readonly string[]> = {
  sqlite: ['DELETE FROM schema_versions WHERE version > 17'],
  postgres: [
    `CREATE INDEX runs_lease_end ON runs (id) WHERE status = 'running'`,
    ...['DROP TRIGGER rows_of_run ON runs', 'DROP FUNCTION rows_of_run'],
    ...['steps', 'run_events'].map((table) => `ALTER TABLE ${table} ADD FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE`),
    'DELETE FROM schema_versions WHERE version > 17',
  ],
}

const BACK_TO_VERSION_14 = [
  'DROP INDEX runs_preferring',
  'ALTER TABLE runs DROP COLUMN prefer_worker_id',
  'DELETE FROM schema_versions WHERE version > 14',
]

const BACK_TO_VERSION_13 = [...BACK_TO_VERSION_14, 'DROP TABLE audit', 'DELETE FROM schema_versions WHERE version > 13']

/** On SQLite and on Postgres. */
export const BACK_TO_VERSION_12 = [
  ...BACK_TO_VERSION_13,
  'DROP INDEX runs_running_key',
  `CREATE UNIQUE INDEX runs_running_key ON runs (concurrency_key) WHERE status = 'running' AND concurrency_key IS NOT NULL`,
  'ALTER TABLE runs DROP COLUMN hold_key',
  'DELETE FROM schema_versions WHERE version > 12',
]

const BACK_TO_VERSION_11 = [
  ...BACK_TO_VERSION_12,
  ...['DROP TABLE inbox', 'DROP TABLE job_definitions', 'DROP TABLE settings', 'ALTER TABLE runs DROP COLUMN unchecked'],
  'DELETE FROM schema_versions WHERE version > 11',
]

/** From version 12, on SQLite and on Postgres. */
const BACK_TO_VERSION_10 = [
  ...BACK_TO_VERSION_11,
  'CREATE INDEX run_events_created_at ON run_events (run_id, created_at)',
  'DELETE FROM schema_versions WHERE version > 10',
]

const COLUMNS_OF_VERSION_10 = [
  ...['worker_id', 'confirm_ms', 'continuation_state', 'continuation_check_deadline_at'],
  ...['assigned_worker_id', 'assigned_at', 'assign_count', 'leader_epoch'],
]

const BACK_TO_VERSION_9 = [
  ...BACK_TO_VERSION_10,
  ...['runs_assigned', 'runs_assigned_key', 'runs_in_round'].map((index) => `DROP INDEX ${index}`),
  ...COLUMNS_OF_VERSION_10.map((column) => `ALTER TABLE runs DROP COLUMN ${column}`),
  'DROP TABLE workers',
  'DELETE FROM schema_versions WHERE version > 9',
]

export const BACK_TO_VERSION_8: Record<'sqlite' | 'postgres', readonly string[]> = {
  sqlite: [...BACK_TO_VERSION_17.sqlite, ...BACK_TO_VERSION_9, 'DROP TRIGGER archive_removal', ...withoutArchive()],
  postgres: [
    ...BACK_TO_VERSION_17.postgres,
    ...BACK_TO_VERSION_9,
    'DROP TRIGGER archive_removal ON runs',
    'DROP FUNCTION archive_removal',
    ...withoutArchive(),
  ],
}

function withoutArchive(): string[] {
  return ['DROP TABLE archive_removals', 'ALTER TABLE runs DROP COLUMN log_ref', 'DELETE FROM schema_versions WHERE version > 8']
}

const WITHOUT_SCHEDULES = [
  ...['runs_slot', 'runs_schedule', 'runs_schedule_active'].map((index) => `DROP INDEX ${index}`),
  ...['schedule_id', 'scheduled_for'].map((column) => `ALTER TABLE runs DROP COLUMN ${column}`),
  ...['DROP TABLE leaders', 'DROP TABLE schedules', 'DELETE FROM schema_versions WHERE version > 7'],
]

const WITHOUT_LABELS = ['DROP TABLE run_labels', 'ALTER TABLE runs DROP COLUMN labels', 'DELETE FROM schema_versions WHERE version > 6']

/** A trigger must go before the column that it reads. */
export const BACK_TO_VERSION_6: Record<'sqlite' | 'postgres', readonly string[]> = {
  sqlite: [
    ...[...BACK_TO_VERSION_8.sqlite, ...WITHOUT_SCHEDULES],
    ...['DROP TRIGGER run_labels_insert', 'DROP TRIGGER run_labels_delete', ...WITHOUT_LABELS],
  ],
  postgres: [...BACK_TO_VERSION_8.postgres, ...WITHOUT_SCHEDULES, ...WITHOUT_LABELS],
}

/** From version 6, on SQLite and on Postgres. */
export const BACK_TO_VERSION_5: readonly string[] = [
  ...['runs_status', 'runs_job', 'runs_idempotent', 'runs_concurrency', 'runs_parent', 'logs_line'].map((index) => `DROP INDEX ${index}`),
  'CREATE UNIQUE INDEX runs_idempotency_key ON runs (job_name, idempotency_key)',
  'CREATE INDEX runs_status_concurrency_key ON runs (status, concurrency_key)',
  'CREATE INDEX runs_status_created_at ON runs (status, created_at)',
  'CREATE INDEX logs_timestamp ON logs (run_id, timestamp)',
  'DELETE FROM schema_versions WHERE version > 5',
]
