// Seed 000's tables and indexes (DESIGN §2), the lease columns that make owners safe, and the event log.
import { type RawBuilder, sql } from 'kysely'
import { RUN_STATUSES } from '../../../model/run.ts'
import type { SqlDeps } from '../shared/deps.ts'

type Deps = Pick<SqlDeps, 'tables' | 'syntax'>

export function runsStepsLogsEvents(deps: Deps): RawBuilder<unknown>[] {
  return [...runs(deps), ...stepsLogsEvents(deps)]
}

function runs({ tables: t, syntax: { bigint, key } }: Deps): RawBuilder<unknown>[] {
  const statuses = sql.join(RUN_STATUSES.map((status) => sql.lit(status)))
  return [
    sql`CREATE TABLE ${t.runs} (
      id ${key} PRIMARY KEY NOT NULL,
      job_name ${key} NOT NULL,
      payload TEXT,
      status ${key} NOT NULL CHECK (status IN (${statuses})),
      idempotency_key ${key},
      concurrency_key ${key},
      current_step_index INTEGER NOT NULL DEFAULT 0,
      progress TEXT,
      output TEXT,
      error TEXT,
      heartbeat_at TEXT NOT NULL,
      created_at ${key} NOT NULL,
      updated_at TEXT NOT NULL,
      failure TEXT,
      reason TEXT,
      version INTEGER NOT NULL DEFAULT 0,
      run_at ${bigint} NOT NULL,
      lease_generation INTEGER NOT NULL DEFAULT 0,
      lease_owner ${key},
      lease_expires_at ${bigint},
      lease_writes INTEGER NOT NULL DEFAULT 0,
      cancel_requested_at ${bigint},
      recoveries INTEGER NOT NULL DEFAULT 0,
      started_at ${bigint},
      finished_at ${bigint},
      last_event_sequence ${bigint} NOT NULL DEFAULT 0,
      CHECK ((status = 'running') = (lease_owner IS NOT NULL)),
      CHECK ((status = 'running') = (lease_expires_at IS NOT NULL))
    )`,
    sql`CREATE UNIQUE INDEX ${t.index('runs_idempotency_key')} ON ${t.runs} (job_name, idempotency_key)`,
    sql`CREATE INDEX ${t.index('runs_status_concurrency_key')} ON ${t.runs} (status, concurrency_key)`,
    sql`CREATE INDEX ${t.index('runs_status_created_at')} ON ${t.runs} (status, created_at)`,
    sql`CREATE UNIQUE INDEX ${t.index('runs_running_key')} ON ${t.runs} (concurrency_key) WHERE status = 'running' AND concurrency_key IS NOT NULL`,
    sql`CREATE UNIQUE INDEX ${t.index('runs_lease_owner')} ON ${t.runs} (lease_owner) WHERE lease_owner IS NOT NULL`,
    sql`CREATE INDEX ${t.index('runs_pick')} ON ${t.runs} (job_name, run_at, id) WHERE status = 'pending'`,
    sql`CREATE INDEX ${t.index('runs_lease_end')} ON ${t.runs} (lease_expires_at) WHERE status = 'running'`,
  ]
}

function stepsLogsEvents({ tables: t, syntax: { bigint, key, belongsTo, insertionColumn, clustered } }: Deps): RawBuilder<unknown>[] {
  return [
    sql`CREATE TABLE ${t.steps} (
      id ${key} PRIMARY KEY NOT NULL,
      run_id ${key} NOT NULL ${belongsTo(t.runs)},
      name ${key} NOT NULL,
      "index" INTEGER NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('completed', 'failed')),
      output TEXT,
      error TEXT,
      started_at TEXT NOT NULL,
      completed_at TEXT,
      failure TEXT,
      lease_generation INTEGER NOT NULL ${insertionColumn}
    )`,
    sql`CREATE INDEX ${t.index('steps_index')} ON ${t.steps} (run_id, "index")`,
    sql`CREATE UNIQUE INDEX ${t.index('steps_completed')} ON ${t.steps} (run_id, name) WHERE status = 'completed'`,
    sql`CREATE TABLE ${t.logs} (
      id ${key} PRIMARY KEY NOT NULL,
      run_id ${key} NOT NULL ${belongsTo(t.runs)},
      step_name TEXT,
      level TEXT NOT NULL,
      message TEXT NOT NULL,
      data TEXT,
      timestamp ${key} NOT NULL ${insertionColumn}
    )`,
    sql`CREATE INDEX ${t.index('logs_timestamp')} ON ${t.logs} (run_id, timestamp)`,
    sql`CREATE TABLE ${t.events} (
      run_id ${key} NOT NULL REFERENCES ${t.runs} (id) ON DELETE CASCADE,
      seq ${bigint} NOT NULL,
      event_type TEXT NOT NULL,
      payload TEXT NOT NULL,
      created_at ${key} NOT NULL,
      PRIMARY KEY (run_id, seq)
    ) ${clustered}`,
    sql`CREATE INDEX ${t.index('run_events_created_at')} ON ${t.events} (run_id, created_at)`,
  ]
}
