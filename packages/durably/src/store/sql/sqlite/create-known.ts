// Creates runs that are not plain (J1 in create.ts), and those of which some may be there already: by their idempotency key, by the step of
// their parent, or because this was sent before and the answer was lost. A page whose runs are plain does without this code (ADR 0009).
import { sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { timesOf } from '../../new-row.ts'
import { notStored } from '../../not-stored.ts'
import type { Created, NewRun, RunStore } from '../../runs.ts'
import { canMove } from '../shared/guards.ts'
import type { JsonRow } from '../shared/json-rows.ts'
import type { CreateDeps } from './create.ts'

export function createOthers(deps: CreateDeps): RunStore['create'] {
  const {
    statement,
    session,
    env,
    tables: t,
    into,
    syntax,
    eventLog,
    plainValuesOf,
    createNew,
    isPlain,
    chunkedRuns,
    jsonRows,
    runRow,
  } = deps
  const columns = deps.columnsWith(
    sql`, idempotency_key, concurrency_key, deadline_at, parent_run_id, parent_step, labels, unchecked, hold_key, prefer_worker_id`,
  )
  const values = sql`${deps.plainValues}, e.value ->> 5, e.value ->> 6, e.value ->> 7, e.value ->> 8, e.value ->> 9, e.value ->> 11, e.value ->> 12, e.value ->> 13, e.value ->> 14`
  const insertNew = statement<{ rows: string }>((p) => sql`INSERT INTO ${columns} SELECT ${values} FROM ${syntax.elements(p('rows'))} AS e`)
  /** A known id, step or key is left alone: a batch that is sent again, or a second trigger of the same thing. */
  const insertRuns = statement<{ rows: string }>(
    (p) => sql`INSERT INTO ${columns} SELECT ${values} FROM ${syntax.elements(p('rows'))} AS e
      WHERE e.value ->> 10 IS NULL
        OR EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = e.value ->> 8 AND ${canMove('complete')} AND r.lease_owner = e.value ->> 10)
      ON CONFLICT DO NOTHING`,
  )
  /** Only runs that have their own id were inserted, now or the first time; then their first event is there already. */
  const insertEvents = statement<{ ids: string; at: string }>(
    (p) => sql`INSERT INTO ${into.events}
      SELECT r.id, 1, 'run:trigger', '{}', ${p('at')}
      FROM ${syntax.texts(p('ids'))} AS e CROSS JOIN ${t.runs} AS r WHERE r.id = e.value
      ON CONFLICT DO NOTHING`,
  )
  const selectRuns = statement<{ rows: string }>(
    (p) => sql`SELECT e.value ->> 0 AS asked, r.* FROM ${syntax.elements(p('rows'))} AS e CROSS JOIN ${t.runs} AS r WHERE r.id = coalesce(
        (SELECT same.id FROM ${t.runs} AS same WHERE same.id = e.value ->> 0),
        (SELECT child.id FROM ${t.runs} AS child WHERE child.parent_run_id = e.value ->> 8 AND child.parent_step = e.value ->> 9),
        (SELECT known.id FROM ${t.runs} AS known WHERE known.job_name = e.value ->> 1 AND known.idempotency_key = e.value ->> 5))`,
  )

  function valuesOf(run: NewRun, now: number): JsonRow {
    return [
      ...plainValuesOf(run, now),
      run.idempotencyKey,
      run.concurrencyKey,
      timesOf(run, now).deadlineAt,
      run.parentRunId,
      run.parentStep,
      run.parentToken,
      run.labels,
      run.unchecked ? 1 : null,
      run.holdKey ? 1 : null,
      run.preferWorkerId ?? null,
    ]
  }

  return async (runs, { within } = {}) => {
    // Plain runs come here after they were not accepted as new.
    const mayBeNew = within === undefined && !runs.every(isPlain) && !runs.some(mayBeKnown)
    const created = mayBeNew && (await createNew(runs, insertNew, valuesOf))
    if (created) return created
    const now = env.wall()
    const chunks = chunkedRuns(runs).map((chunk) => ({
      rows: jsonRows(chunk.map((run) => valuesOf(run, now))),
      ids: jsonRows(chunk.map(({ id }) => id)),
    }))
    const events = (ids: string) => (eventLog ? [insertEvents({ ids, at: iso(now) })] : [])
    const inserts = chunks.flatMap(({ rows, ids }) => [insertRuns({ rows }), ...events(ids)])
    const queries = [...inserts, ...chunks.map(({ rows }) => selectRuns({ rows }))]
    const results = within ? await session.writeWithin(within, queries) : await session.write(queries)
    const found = new Map(results.slice(inserts.length).flatMap((rows) => rows.map((row) => [row.asked, runRow(row)])))
    return runs.map((given) => answer(given, found.get(given.id)))
  }
}

/** By something else than its id. */
function mayBeKnown({ idempotencyKey, parentStep }: NewRun): boolean {
  return idempotencyKey !== null || parentStep !== null
}

function answer(given: NewRun, run: Created['run'] | undefined): Created {
  if (!run) throw notStored(given)
  return { run, created: run.id === given.id }
}
