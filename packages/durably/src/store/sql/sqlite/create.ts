// Rows go in as one JSON parameter, so 1,000 runs take as many statements as one.
import { sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { notStored } from '../../not-stored.ts'
import type { Created, NewRun, RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { canMove } from '../shared/guards.ts'
import { chunkedRuns, jsonRows } from '../shared/json-rows.ts'
import { runRow } from '../shared/rows.ts'
import type { Row } from '../shared/session.ts'
import type { Param } from '../shared/statement.ts'

export function createRuns({ statement, session, env, tables: t, into, syntax, eventLog }: SqlDeps): RunStore['create'] {
  const due = (p: Param<{ now: number }>) => sql`coalesce(e.value ->> 7, ${p('now')} + coalesce(e.value ->> 6, 0))`
  const deadline = (p: Param<{ now: number }>) => sql`coalesce(e.value ->> 8, ${p('now')} + (e.value ->> 11))`
  /** A known id, step or key is left alone: a batch that is sent again, or a second trigger of the same thing. */
  const insertRuns = statement<{ rows: string; now: number }>(
    (p) => sql`INSERT INTO ${t.runs} (id, job_name, payload, idempotency_key, concurrency_key, created_at, heartbeat_at, updated_at,
        status, run_at, deadline_at, parent_run_id, parent_step, labels, last_event_sequence)
      SELECT e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 5, e.value ->> 5,
        'pending', min(${due(p)}, max(coalesce(${deadline(p)}, ${due(p)}), ${p('now')})), ${deadline(p)}, e.value ->> 9, e.value ->> 10, e.value ->> 13, 1
      FROM ${syntax.elements(p('rows'))} AS e WHERE e.value ->> 12 IS NULL
        OR EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = e.value ->> 9 AND ${canMove('complete')} AND r.lease_owner = e.value ->> 12)
      ON CONFLICT DO NOTHING`,
  )
  /** Only runs that have their own id were inserted, now or the first time; then their first event is there already. */
  const insertEvents = statement<{ rows: string; at: string }>(
    (p) => sql`INSERT INTO ${into.events}
      SELECT r.id, 1, 'run:trigger', '{}', ${p('at')}
      FROM ${syntax.elements(p('rows'))} AS e JOIN ${t.runs} AS r ON r.id = e.value ->> 0 WHERE true
      ON CONFLICT DO NOTHING`,
  )
  const selectRuns = statement<{ rows: string }>(
    (p) => sql`SELECT e.key AS position, r.* FROM ${syntax.elements(p('rows'))} AS e JOIN ${t.runs} AS r ON r.id = coalesce(
        (SELECT same.id FROM ${t.runs} AS same WHERE same.id = e.value ->> 0),
        (SELECT child.id FROM ${t.runs} AS child WHERE child.parent_run_id = e.value ->> 9 AND child.parent_step = e.value ->> 10),
        (SELECT known.id FROM ${t.runs} AS known WHERE known.job_name = e.value ->> 1 AND known.idempotency_key = e.value ->> 3))`,
  )

  return async (runs, { within } = {}) => {
    if (runs.length === 0) return []
    const now = env.wall()
    const at = iso(now)
    const chunks = chunkedRuns(runs)
    const parameters = chunks.map((chunk) => jsonRows(chunk.map(toRow)))
    const inserts = parameters.flatMap((rows) =>
      eventLog ? [insertRuns({ rows, now }), insertEvents({ rows, at })] : [insertRuns({ rows, now })],
    )
    const queries = [...inserts, ...parameters.map((rows) => selectRuns({ rows }))]
    const results = within ? await session.writeWithin(within, queries) : await session.write(queries)
    return chunks.flatMap((chunk, i) => answers(chunk, results[inserts.length + i] ?? []))
  }
}

function toRow(run: NewRun) {
  return [
    run.id,
    run.jobName,
    run.payload,
    run.idempotencyKey,
    run.concurrencyKey,
    run.createdAt,
    run.delayMs,
    run.runAt,
    run.deadlineAt,
    run.parentRunId,
    run.parentStep,
    run.deadlineMs,
    run.parentToken,
    run.labels,
  ]
}

function answers(runs: readonly NewRun[], rows: readonly Row[]): Created[] {
  const found = new Map(rows.map((row) => [Number(row.position), runRow(row)]))
  return runs.map((given, i) => {
    const run = found.get(i)
    if (!run) throw notStored(given)
    return { run, created: run.id === given.id }
  })
}
