// Rows go in as one JSON parameter, so 1,000 runs take as many statements as one.
//   J1. Most runs are plain: they have no keys, no parent, no deadline, no labels. For these a statement with fewer columns takes half the time. The columns
//       of a plain run come first, so all other statements read both kinds of rows alike.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RunRow } from '../../../model/run.ts'
import { newRow, timesOf } from '../../new-row.ts'
import { notStored } from '../../not-stored.ts'
import type { Created, NewRun, RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { canMove } from '../shared/guards.ts'
import { chunkedRuns, jsonRows } from '../shared/json-rows.ts'
import { runRow } from '../shared/rows.ts'

export function createRuns({ statement, session, env, tables: t, into, syntax, eventLog }: SqlDeps): RunStore['create'] {
  /** A known id, step or key is left alone: a batch that is sent again, or a second trigger of the same thing. */
  const insertInto = (columns: RawBuilder<unknown>, values: RawBuilder<unknown>, condition: RawBuilder<unknown>) =>
    statement<{ rows: string }>(
      (
        p,
      ) => sql`INSERT INTO ${t.runs} (id, job_name, payload, created_at, heartbeat_at, updated_at, run_at, status, last_event_sequence${columns})
      SELECT e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 3, e.value ->> 3, e.value ->> 4, 'pending', 1${values}
      FROM ${syntax.elements(p('rows'))} AS e WHERE ${condition}
      ON CONFLICT DO NOTHING`,
    )
  const insertPlain = insertInto(sql``, sql``, sql`true`)
  const insertRuns = insertInto(
    sql`, idempotency_key, concurrency_key, deadline_at, parent_run_id, parent_step, labels, unchecked, hold_key, prefer_worker_id`,
    sql`, e.value ->> 5, e.value ->> 6, e.value ->> 7, e.value ->> 8, e.value ->> 9, e.value ->> 11, e.value ->> 12, e.value ->> 13, e.value ->> 14`,
    sql`e.value ->> 10 IS NULL
        OR EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = e.value ->> 8 AND ${canMove('complete')} AND r.lease_owner = e.value ->> 10)`,
  )
  /** Stands after `insertRuns`: how many it has inserted. */
  const countStored = statement<Record<never, never>>(() => sql`SELECT changes() AS stored`)
  /** Only runs that have their own id were inserted, now or the first time; then their first event is there already. */
  const insertEvents = statement<{ ids: string; at: string }>(
    (p) => sql`INSERT INTO ${into.events}
      SELECT r.id, 1, 'run:trigger', '{}', ${p('at')}
      FROM ${syntax.texts(p('ids'))} AS e JOIN ${t.runs} AS r ON r.id = e.value WHERE true
      ON CONFLICT DO NOTHING`,
  )
  const selectRuns = statement<{ rows: string }>(
    (p) => sql`SELECT e.value ->> 0 AS asked, r.* FROM ${syntax.elements(p('rows'))} AS e JOIN ${t.runs} AS r ON r.id = coalesce(
        (SELECT same.id FROM ${t.runs} AS same WHERE same.id = e.value ->> 0),
        (SELECT child.id FROM ${t.runs} AS child WHERE child.parent_run_id = e.value ->> 8 AND child.parent_step = e.value ->> 9),
        (SELECT known.id FROM ${t.runs} AS known WHERE known.job_name = e.value ->> 1 AND known.idempotency_key = e.value ->> 5))`,
  )

  return async (runs, { within } = {}) => {
    if (runs.length === 0) return []
    const now = env.wall()
    const at = iso(now)
    const arePlain = runs.every(isPlain)
    const insert = arePlain ? insertPlain : insertRuns
    const chunks = chunkedRuns(runs).map((chunk) => ({
      rows: jsonRows(chunk.map(arePlain ? (run) => plainRow(run, now) : (run) => toRow(run, now))),
      ids: jsonRows(chunk.map(({ id }) => id)),
    }))
    const events = (ids: string) => (eventLog ? [insertEvents({ ids, at })] : [])
    const write = (queries: CompiledQuery[]) => (within ? session.writeWithin(within, queries) : session.write(queries))
    if (!runs.some(mayBeKnown) && !chunks.some(mayBeChanged)) {
      const counts = await write(chunks.flatMap(({ rows, ids }) => [insert({ rows }), countStored({}), ...events(ids)]))
      const stored = counts.flat().reduce((sum, row) => sum + Number(row.stored), 0)
      // Otherwise some are there already: this was sent before, and its answer was lost.
      if (stored === runs.length) return runs.map((run) => ({ run: firstRow(run, now), created: true }))
    }
    const inserts = chunks.flatMap(({ rows, ids }) => [insert({ rows }), ...events(ids)])
    const results = await write([...inserts, ...chunks.map(({ rows }) => selectRuns({ rows }))])
    const found = new Map(results.slice(inserts.length).flatMap((rows) => rows.map((row) => [row.asked, runRow(row)])))
    return runs.map((given) => answer(given, found.get(given.id)))
  }
}

/** J1. */
function isPlain(run: NewRun): boolean {
  const { idempotencyKey, concurrencyKey, deadlineMs, deadlineAt, parentRunId, parentStep, parentToken, labels } = run
  const values = [idempotencyKey, concurrencyKey, deadlineMs, deadlineAt, parentRunId, parentStep, parentToken, labels]
  return values.every((value) => value === null) && !run.unchecked && !run.holdKey && !run.preferWorkerId
}

/** By something else than its id. */
function mayBeKnown({ idempotencyKey, parentStep }: NewRun): boolean {
  return idempotencyKey !== null || parentStep !== null
}

/** By `jsonRows`, which puts this character in the place of what cannot be stored. */
function mayBeChanged({ rows }: { rows: string }): boolean {
  return rows.includes('\uFFFD')
}

/** The row as `insertRuns` has stored it. Reading it from the database costs as much as storing it. */
function firstRow(run: NewRun, now: number): RunRow {
  const row = newRow(run, now)
  row.lastEventSequence = 1
  return row
}

function plainRow(run: NewRun, now: number) {
  return [run.id, run.jobName, run.payload, run.createdAt, timesOf(run, now).runAt]
}

function toRow(run: NewRun, now: number) {
  return [
    ...plainRow(run, now),
    run.idempotencyKey,
    run.concurrencyKey,
    timesOf(run, now).deadlineAt,
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
