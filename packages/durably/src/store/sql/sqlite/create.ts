// Rows go in as one JSON parameter, so 1,000 runs take as many statements as one.
import { type CompiledQuery, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RunRow } from '../../../model/run.ts'
import { newRow } from '../../new-row.ts'
import { notStored } from '../../not-stored.ts'
import type { Created, NewRun, RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { canMove } from '../shared/guards.ts'
import { chunkedRuns, jsonRows } from '../shared/json-rows.ts'
import { runRow } from '../shared/rows.ts'

export function createRuns({ statement, session, env, tables: t, into, syntax, eventLog }: SqlDeps): RunStore['create'] {
  /** A known id, step or key is left alone: a batch that is sent again, or a second trigger of the same thing. */
  const insertRuns = statement<{ rows: string }>(
    (p) => sql`INSERT INTO ${t.runs} (id, job_name, payload, idempotency_key, concurrency_key, created_at, heartbeat_at, updated_at,
        status, run_at, deadline_at, parent_run_id, parent_step, labels, unchecked, hold_key, prefer_worker_id, last_event_sequence)
      SELECT e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 5, e.value ->> 5,
        'pending', e.value ->> 6, e.value ->> 7, e.value ->> 8, e.value ->> 9, e.value ->> 11, e.value ->> 12, e.value ->> 13, e.value ->> 14, 1
      FROM ${syntax.elements(p('rows'))} AS e WHERE e.value ->> 10 IS NULL
        OR EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = e.value ->> 8 AND ${canMove('complete')} AND r.lease_owner = e.value ->> 10)
      ON CONFLICT DO NOTHING`,
  )
  /** Stands after `insertRuns`: how many it has inserted. */
  const countStored = statement<Record<never, never>>(() => sql`SELECT changes() AS stored`)
  /** Only runs that have their own id were inserted, now or the first time; then their first event is there already. */
  const insertEvents = statement<{ rows: string; at: string }>(
    (p) => sql`INSERT INTO ${into.events}
      SELECT r.id, 1, 'run:trigger', '{}', ${p('at')}
      FROM ${syntax.elements(p('rows'))} AS e JOIN ${t.runs} AS r ON r.id = e.value ->> 0 WHERE true
      ON CONFLICT DO NOTHING`,
  )
  const selectRuns = statement<{ rows: string }>(
    (p) => sql`SELECT e.value ->> 0 AS asked, r.* FROM ${syntax.elements(p('rows'))} AS e JOIN ${t.runs} AS r ON r.id = coalesce(
        (SELECT same.id FROM ${t.runs} AS same WHERE same.id = e.value ->> 0),
        (SELECT child.id FROM ${t.runs} AS child WHERE child.parent_run_id = e.value ->> 8 AND child.parent_step = e.value ->> 9),
        (SELECT known.id FROM ${t.runs} AS known WHERE known.job_name = e.value ->> 1 AND known.idempotency_key = e.value ->> 3))`,
  )

  return async (runs, { within } = {}) => {
    if (runs.length === 0) return []
    const now = env.wall()
    const at = iso(now)
    const parameters = chunkedRuns(runs).map((chunk) => jsonRows(chunk.map((run) => toRow(run, now))))
    const events = (rows: string) => (eventLog ? [insertEvents({ rows, at })] : [])
    const write = (queries: CompiledQuery[]) => (within ? session.writeWithin(within, queries) : session.write(queries))
    if (!runs.some(mayBeKnown) && !parameters.some(mayBeChanged)) {
      const counts = await write(parameters.flatMap((rows) => [insertRuns({ rows }), countStored({}), ...events(rows)]))
      const stored = counts.flat().reduce((sum, row) => sum + Number(row.stored), 0)
      // Otherwise some are there already: this was sent before, and its answer was lost.
      if (stored === runs.length) return runs.map((run) => ({ run: firstRow(run, now), created: true }))
    }
    const inserts = parameters.flatMap((rows) => [insertRuns({ rows }), ...events(rows)])
    const results = await write([...inserts, ...parameters.map((rows) => selectRuns({ rows }))])
    const found = new Map(results.slice(inserts.length).flatMap((rows) => rows.map((row) => [row.asked, runRow(row)])))
    return runs.map((given) => answer(given, found.get(given.id)))
  }
}

/** By something else than its id. */
function mayBeKnown({ idempotencyKey, parentStep }: NewRun): boolean {
  return idempotencyKey !== null || parentStep !== null
}

/** By `jsonRows`, which puts this character in the place of what cannot be stored. */
function mayBeChanged(rows: string): boolean {
  return rows.includes('\uFFFD')
}

/** The row as `insertRuns` has stored it. Reading it from the database costs as much as storing it. */
function firstRow(run: NewRun, now: number): RunRow {
  const row = newRow(run, now)
  row.lastEventSequence = 1
  return row
}

function toRow(run: NewRun, now: number) {
  const { runAt, deadlineAt } = newRow(run, now)
  return [
    run.id,
    run.jobName,
    run.payload,
    run.idempotencyKey,
    run.concurrencyKey,
    run.createdAt,
    runAt,
    deadlineAt,
    run.parentRunId,
    run.parentStep,
    run.parentToken,
    run.labels,
    run.unchecked ? 1 : null,
    run.holdKey ? 1 : null,
    run.preferWorkerId,
  ]
}

function answer(given: NewRun, run: RunRow | undefined): Created {
  if (!run) throw notStored(given)
  return { run, created: run.id === given.id }
}
