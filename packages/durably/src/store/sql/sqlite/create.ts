// Rows go in as one JSON parameter, so 1,000 runs take as many statements as one.
//   J1. Most runs are plain: they have no keys, no parent, no deadline, no labels. For these a statement with fewer columns takes half the time. The columns
//       of a plain run come first, so all other statements read both kinds of rows alike. A single plain run needs no JSON. The others are
//       created by create-known.ts.
//   J2. A new run is not looked for. If one is there, because this was sent before and the answer was lost, the insert fails, and all are created
//       by create-known.ts. One that fails in the middle is undone by SQLite, which keeps a journal of each statement for that. It costs as much as
//       the insert of a run, so a single plain run does without (`OR FAIL`): it is one row, and has nothing to undo.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { hasCode } from '../../../model/errors.ts'
import { lazyCode, once } from '../../../model/lazy.ts'
import type { RunRow } from '../../../model/run.ts'
import { newRow, timesOf } from '../../new-row.ts'
import type { Created, NewRun, RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { isPlain } from '../shared/is-plain.ts'
import { isStoredAsGiven } from '../shared/is-stored-as-given.ts'
import { chunkedRuns, type JsonRow, jsonRows } from '../shared/json-rows.ts'
import { runRow } from '../shared/rows.ts'
import type { Statement } from '../shared/statement.ts'

/** What create-known.ts gets: see `LazyDeps`. */
export interface CreateDeps extends SqlDeps {
  /** The table, with the columns of a plain run and these. */
  columnsWith: (others: RawBuilder<unknown>) => RawBuilder<unknown>
  /** The columns of a plain run in rows of JSON, and its row. */
  plainValues: RawBuilder<unknown>
  plainValuesOf: typeof plainValuesOf
  /** Creates runs without looking for them; undefined if something of it is there, or would not be stored as it was given. */
  createNew: (runs: readonly NewRun[], insert: Statement<{ rows: string }>, rowOf: typeof plainValuesOf) => Promise<Created[] | undefined>
  isPlain: typeof isPlain
  chunkedRuns: typeof chunkedRuns
  jsonRows: typeof jsonRows
  runRow: typeof runRow
}

const lazyCreate = lazyCode(async () => (await import('./create-known.ts')).createOthers)

export function createRuns(deps: SqlDeps): RunStore['create'] {
  const { statement, session, env, tables: t, into, syntax, eventLog } = deps
  const columnsWith = (others: RawBuilder<unknown>) =>
    sql`${t.runs} (id, job_name, payload, created_at, heartbeat_at, updated_at, run_at, status, last_event_sequence${others})`
  const plainColumns = columnsWith(sql``)
  const plainValues = sql`e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 3, e.value ->> 3, e.value ->> 4, 'pending', 1`
  const insertPlain = statement<{ rows: string }>(
    (p) => sql`INSERT INTO ${plainColumns} SELECT ${plainValues} FROM ${syntax.elements(p('rows'))} AS e`,
  )
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
  const createOthers = once(async () =>
    (await lazyCreate(env))({ ...deps, columnsWith, plainValues, plainValuesOf, createNew, isPlain, chunkedRuns, jsonRows, runRow }),
  )

  function insertsOf(
    runs: readonly NewRun[],
    now: number,
    insert: Statement<{ rows: string }>,
    rowOf: typeof plainValuesOf,
  ): CompiledQuery[] | undefined {
    const at = iso(now)
    const [run] = runs
    if (run && runs.length === 1 && insert === insertPlain) {
      const { id, jobName, payload, createdAt } = run
      if (!isStoredAsGiven(jobName) || !isStoredAsGiven(payload)) return undefined
      const one = insertOne({ id, jobName, payload, createdAt, runAt: timesOf(run, now).runAt })
      return eventLog ? [one, insertEvent({ id, at })] : [one]
    }
    const queries: CompiledQuery[] = []
    for (const chunk of chunkedRuns(runs)) {
      const rows = jsonRows(chunk.map((run) => rowOf(run, now)))
      // `jsonRows` puts this character in the place of what cannot be stored.
      if (rows.includes('\uFFFD')) return undefined
      queries.push(insert({ rows }))
      if (eventLog) queries.push(insertEvents({ ids: jsonRows(chunk.map(({ id }) => id)), at }))
    }
    return queries
  }

  const createNew: CreateDeps['createNew'] = async (runs, insert, rowOf) => {
    const now = env.wall()
    const inserts = insertsOf(runs, now, insert, rowOf)
    if (inserts && (await isAccepted(session.write(inserts)))) return runs.map((run) => ({ run: firstRow(run, now), created: true }))
  }

  return async (runs, options) => {
    if (runs.length === 0) return []
    const isSimple = options?.within === undefined && runs.every(isPlain)
    return (isSimple && (await createNew(runs, insertPlain, plainValuesOf))) || (await createOthers())(runs, options)
  }
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

function plainValuesOf(run: NewRun, now: number): JsonRow {
  return [run.id, run.jobName, run.payload, run.createdAt, timesOf(run, now).runAt]
}
