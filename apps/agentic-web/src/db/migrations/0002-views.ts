// Views for people and reports: the engine's tables with the columns and words of the specification of this app. Nothing reads them here.
//   agent_runs: its `runs`. `owner_id` is the worker's id, `lease_until` the end of its lease.
//   agent_run_events: its `run_events`. The engine stores no value twice, so the values that an event refers to are joined in.
import { type RawBuilder, sql } from 'kysely'
import type { DatabaseKind } from '../kind.ts'

export function createViews(kind: DatabaseKind): RawBuilder<unknown>[] {
  return kind === 'postgres' ? postgresViews() : sqliteViews()
}

const STATUS = sql`CASE r.status WHEN 'pending' THEN 'queued' ELSE r.status END`
const JOINED_RUNS = sql`agent_turns t JOIN runs r ON r.id = t.run_id`
const JOINED_EVENTS = sql`agent_turns t JOIN runs r ON r.id = t.run_id JOIN run_events e ON e.run_id = r.id`

function postgresViews(): RawBuilder<unknown>[] {
  const at = (column: string) => sql`to_timestamp(r.${sql.ref(column)} / 1000.0)`
  return [
    // jsonb has no NUL and no lone surrogate; both stay readable as the six characters of their escape. JSON.stringify escapes no others.
    sql`CREATE FUNCTION agent_json(value text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
      SELECT regexp_replace(value, ${sql.raw(String.raw`'(?<!\\)((?:\\\\)*)\\(u0000|ud[89a-f][0-9a-f]{2})', '\1\\\\\2', 'g'`)})::jsonb
    $$`,
    sql`CREATE VIEW agent_runs AS SELECT
      t.run_id, t.session_id, t.user_id, ${STATUS} AS status, t.input_text,
      r.created_at::timestamptz AS created_at, ${at('started_at')} AS started_at, ${at('finished_at')} AS finished_at,
      r.worker_id AS owner_id, ${at('lease_expires_at')} AS lease_until, ${at('cancel_requested_at')} AS cancel_requested_at,
      r.error AS error_message
      FROM ${JOINED_RUNS}`,
    sql`CREATE VIEW agent_run_events AS SELECT
      e.run_id, t.user_id, e.seq, e.event_type,
      (agent_json(e.payload) - 'chunks' - 'state' - 'stepId') || jsonb_strip_nulls(jsonb_build_object(
        'chunks', agent_json(e.payload::json ->> 'chunks'),
        'payload', CASE WHEN e.event_type = 'run:trigger' THEN agent_json(r.payload) END,
        'output', CASE e.event_type WHEN 'run:complete' THEN agent_json(r.output) WHEN 'step:complete' THEN agent_json(s.output) END
      )) AS payload,
      e.created_at::timestamptz AS created_at
      FROM ${JOINED_EVENTS} LEFT JOIN steps s ON s.id = e.payload::json ->> 'stepId'`,
  ]
}

function sqliteViews(): RawBuilder<unknown>[] {
  const at = (column: string) => sql`strftime('%Y-%m-%dT%H:%M:%fZ', r.${sql.ref(column)} / 1000.0, 'unixepoch')`
  return [
    sql`CREATE VIEW agent_runs AS SELECT
      t.run_id, t.session_id, t.user_id, ${STATUS} AS status, t.input_text,
      r.created_at, ${at('started_at')} AS started_at, ${at('finished_at')} AS finished_at,
      r.worker_id AS owner_id, ${at('lease_expires_at')} AS lease_until, ${at('cancel_requested_at')} AS cancel_requested_at,
      r.error AS error_message
      FROM ${JOINED_RUNS}`,
    sql`CREATE VIEW agent_run_events AS SELECT
      e.run_id, t.user_id, e.seq, e.event_type,
      json_patch(json_remove(e.payload, '$.chunks', '$.state', '$.stepId'), json_object(
        'chunks', json(json_extract(e.payload, '$.chunks')),
        'payload', json(CASE WHEN e.event_type = 'run:trigger' THEN r.payload END),
        'output', json(CASE e.event_type WHEN 'run:complete' THEN r.output WHEN 'step:complete' THEN s.output END)
      )) AS payload,
      e.created_at
      FROM ${JOINED_EVENTS} LEFT JOIN steps s ON s.id = json_extract(e.payload, '$.stepId')`,
  ]
}
