/** Takes back what the versions after 5 changed, on SQLite and on Postgres. */
export const BACK_TO_VERSION_5: readonly string[] = [
  ...['runs_status', 'runs_job', 'runs_idempotent', 'runs_concurrency', 'runs_parent', 'logs_line'].map((index) => `DROP INDEX ${index}`),
  'CREATE UNIQUE INDEX runs_idempotency_key ON runs (job_name, idempotency_key)',
  'CREATE INDEX runs_status_concurrency_key ON runs (status, concurrency_key)',
  'CREATE INDEX runs_status_created_at ON runs (status, created_at)',
  'CREATE INDEX logs_timestamp ON logs (run_id, timestamp)',
  'DELETE FROM schema_versions WHERE version > 5',
]
