import { sql } from 'kysely'
import type { Migration } from './index.ts'

/** Every index of runs is partial: a run without a schedule is in none of them. */
export const leadersSchedules: Migration = ({ tables: t, syntax: { bigint, key } }) => [
  sql`ALTER TABLE ${t.runs} ADD COLUMN schedule_id ${key}`,
  sql`ALTER TABLE ${t.runs} ADD COLUMN scheduled_for ${bigint}`,
  sql`CREATE UNIQUE INDEX ${t.index('runs_slot')} ON ${t.runs} (schedule_id, scheduled_for) WHERE schedule_id IS NOT NULL`,
  sql`CREATE INDEX ${t.index('runs_schedule')} ON ${t.runs} (schedule_id, id) WHERE schedule_id IS NOT NULL`,
  sql`CREATE INDEX ${t.index('runs_schedule_active')} ON ${t.runs} (schedule_id) WHERE schedule_id IS NOT NULL AND finished_at IS NULL`,
  sql`CREATE TABLE ${t.leaders} (
      name ${key} PRIMARY KEY NOT NULL,
      epoch ${bigint} NOT NULL,
      worker_id TEXT NOT NULL,
      token ${key} NOT NULL,
      elected_at ${bigint} NOT NULL,
      expires_at ${bigint} NOT NULL
    )`,
  sql`CREATE TABLE ${t.schedules} (
      id ${key} PRIMARY KEY NOT NULL,
      job_name ${key} NOT NULL,
      cron TEXT,
      every_ms ${bigint},
      timezone TEXT NOT NULL,
      payload TEXT,
      misfire TEXT NOT NULL,
      misfire_max INTEGER NOT NULL,
      overlap TEXT NOT NULL,
      jitter_ms ${bigint} NOT NULL,
      concurrency_key ${key},
      labels TEXT,
      paused INTEGER NOT NULL,
      next_at ${bigint} NOT NULL,
      last_scheduled_for ${bigint},
      version INTEGER NOT NULL,
      leader_epoch ${bigint} NOT NULL,
      created_at ${bigint} NOT NULL,
      updated_at ${bigint} NOT NULL
    )`,
  sql`CREATE INDEX ${t.index('schedules_due')} ON ${t.schedules} (next_at, id) WHERE paused = 0`,
]
