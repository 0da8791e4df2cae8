// Rows go in as one JSON parameter, so 1,000 runs take as many statements as one.
//   J1. Most runs are plain: they have no keys, no parent, no deadline, no labels. For these a statement with fewer columns takes half the time. The columns
//       of a plain run come first, so all other statements read both kinds of rows alike. A single plain run needs no JSON.
//   J2. A new run is not looked for. If one is there, because this was sent before and the answer was lost, the insert fails, and all are created
//       by create-known.ts. One that fails in the middle is undone by SQLite, which keeps a journal of each statement for that. It costs as much as
//       the insert of a run, so a single plain run does without (`OR FAIL`): it is one row, and has nothing to undo.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { hasCode } from '../../../model/errors.ts'
import { lazyCode, once } from '../../../model/lazy.ts'
import type { RunRow } from '../../../model/run.ts'
import { newRow, timesOf } from '../../new-row.ts'
import type { NewRun, RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { isPlain } from '../shared/is-plain.ts'
import { isStoredAsGiven } from '../shared/is-stored-as-given.ts'
import { chunkedRuns, jsonRows } from '../shared/json-rows.ts'
import { runRow } from '../shared/rows.ts'

/** What create-known.ts gets: see `LazyDeps`. */
export interface CreateDeps extends SqlDeps {
  /** The table, and the columns that stand in the rows of `valuesOf`. */
  columns: RawBuilder<unknown>
  values: RawBuilder<unknown>
  valuesOf: typeof valuesOf
  chunkedRuns: typeof chunkedRuns
  jsonRows: typeof jsonRows
  runRow: typeof runRow
}

const lazyCreate = lazyCode(async () => (await import('./create-known.ts')).createUnlessKnown)

export function createRuns(deps: SqlDeps): RunStore['create'] {
  const { statement, session, env, tables: t, into, syntax, eventLog } = deps
  const columnsWith = (others: RawBuilder<unknown>) =>
    sql`${t.runs} (id, job_name, payload, created_at, heartbeat_at, updated_at, run_at, status, last_event_sequence${others})`
  const plainColumns = columnsWith(sql``)
  const plainValues = sql`e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 3, e.value ->> 3, e.value ->> 4, 'pending', 1`
  const columns = columnsWith(
    sql`, idempotency_key, concurrency_key, deadline_at, parent_run_id, parent_step, labels, unchecked, hold_key, prefer_worker_id`,
  )
  const values = sql`${plainValues}, e.value ->> 5, e.value ->> 6, e.value ->> 7, e.value ->> 8, e.value ->> 9, e.value ->> 11, e.value ->> 12, e.value ->> 13, e.value ->> 14`
  const insertInto = (columns: RawBuilder<unknown>, values: RawBuilder<unknown>) =>
    statement<{ rows: string }>((p) => sql`INSERT INTO ${columns} SELECT ${values} FROM ${syntax.elements(p('rows'))} AS e`)
  const insertPlain = insertInto(plainColumns, plainValues)
  const insertRuns = insertInto(columns, values)
  const insertOne = statement<Pick<RunRow, 'id' | 'jobName' | 'payload' | 'createdAt' | 'runAt'>>(
    (p) => sql`INSERT OR FAIL INTO ${plainColumns}
      VALUES (${p('id')}, ${p('jobName')}, ${p('payload')}, ${p('createdAt')}, ${p('createdAt')}, ${p('createdAt')}, ${p('runAt')}, 'pending', 1)`,
  )
  const insertEvents = statement<{ ids: string; at: string }>(
    (p) => sql`INSERT INTO ${into.events} SELECT e.value, 1, 'run:trigger', '{}', ${p('at')} FROM ${syntax.texts(p('ids'))} AS e`,
  )
  const insertEvent = statement<{ id: string; at: string }>(
    (p) => sql`INSERT INTO ${into.events} VALUES (${p('id')}, 1, 'run:trigger', '{}', ${p('at')})`,
  )
  const createUnlessKnown = once(async () => (await lazyCreate(env))({ ...deps, columns, values, valuesOf, chunkedRuns, jsonRows, runRow }))

  /** Undefined if something of it would not be stored as it was given. */
  function insertsOf(runs: readonly NewRun[], now: number): CompiledQuery[] | undefined {
    const at = iso(now)
    const arePlain = runs.every(isPlain)
    const [run] = runs
    if (run && runs.length === 1 && arePlain) {
      const { id, jobName, payload, createdAt } = run
      if (!isStoredAsGiven(jobName) || !isStoredAsGiven(payload)) return undefined
      const insert = insertOne({ id, jobName, payload, createdAt, runAt: timesOf(run, now).runAt })
      return eventLog ? [insert, insertEvent({ id, at })] : [insert]
    }
    const queries: CompiledQuery[] = []
    for (const chunk of chunkedRuns(runs)) {
      const rows = jsonRows(chunk.map((run) => (arePlain ? plainValuesOf(run, now) : valuesOf(run, now))))
      // `jsonRows` puts this character in the place of what cannot be stored.
      if (rows.includes('\uFFFD')) return undefined
      queries.push((arePlain ? insertPlain : insertRuns)({ rows }))
      if (eventLog) queries.push(insertEvents({ ids: jsonRows(chunk.map(({ id }) => id)), at }))
    }
    return queries
  }

  return async (runs, options) => {
    if (runs.length === 0) return []
    const now = env.wall()
    const inserts = options?.within !== undefined || runs.some(mayBeKnown) ? undefined : insertsOf(runs, now)
    if (!inserts || !(await isAccepted(session.write(inserts)))) return (await createUnlessKnown())(runs, options)
    return runs.map((run) => ({ run: firstRow(run, now), created: true }))
  }
}

/** By something else than its id. */
function mayBeKnown({ idempotencyKey, parentStep }: NewRun): boolean {
  return idempotencyKey !== null || parentStep !== null
}

/** False if the database refuses the data: a run is there already. */
async function isAccepted(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing
    return true
  } catch (error) {
    if (hasCode(error, 'store_rejected')) return false
    throw error
  }
}

/** The row as it is stored. Reading it from the database costs as much as storing it. */
function firstRow(run: NewRun, now: number): RunRow {
  const row = newRow(run, now)
  row.lastEventSequence = 1
  return row
}

function plainValuesOf(run: NewRun, now: number) {
  return [run.id, run.jobName, run.payload, run.createdAt, timesOf(run, now).runAt]
}

function valuesOf(run: NewRun, now: number) {
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
    run.preferWorkerId,
  ]
}
