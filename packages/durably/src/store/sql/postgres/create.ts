// Most runs are plain and due at once. For these a statement with four columns instead of seventeen, which looks for no other run and answers with one
// row, takes a fourth of the time. All others are created by create-known.ts.
import { sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { newRow } from '../../new-row.ts'
import type { Created, NewRun, RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { isPlain } from '../shared/is-plain.ts'
import { isStoredAsGiven } from '../shared/is-stored-as-given.ts'
import { chunkedRuns } from '../shared/json-rows.ts'
import { reader } from '../shared/rows.ts'
import type { Row } from '../shared/session.ts'
import { createUnlessKnown } from './create-known.ts'

interface PlainValues {
  ids: string[]
  jobs: string[]
  payloads: (string | null)[]
  createdAts: string[]
  now: number
  at: string
}

export function createRuns(deps: SqlDeps): RunStore['create'] {
  const { statement, session, env, tables: t, into, syntax, eventLog } = deps
  const createOthers = createUnlessKnown(deps)
  const insert = statement<PlainValues>(
    (p) => sql`${syntax.clock(p)}, created AS (
      INSERT INTO ${t.runs} (id, job_name, payload, created_at, heartbeat_at, updated_at, status, run_at, last_event_sequence)
      SELECT id, job_name, payload, created_at, created_at, created_at, 'pending', ${syntax.now(p)}, 1
      FROM unnest(${p('ids')}::text[], ${p('jobs')}::text[], ${p('payloads')}::text[], ${p('createdAts')}::text[]) AS given(id, job_name, payload, created_at)
      ON CONFLICT DO NOTHING RETURNING id)
    ${eventLog ? sql`, events AS (INSERT INTO ${into.events} SELECT id, 1, 'run:trigger', '{}', ${p('at')} FROM created)` : sql``}
    SELECT count(*) AS stored, ${syntax.now(p)} AS run_at${syntax.readAt} FROM created`,
  )

  return async (runs, options = {}) => {
    const { within } = options
    if (runs.length === 0) return []
    if (!runs.every(isDueAtOnce)) return createOthers(runs, options)
    const now = env.wall()
    const at = iso(now)
    const chunks = chunkedRuns(runs)
    const queries = chunks.map((chunk) =>
      insert({
        ids: chunk.map((run) => run.id),
        jobs: chunk.map((run) => run.jobName),
        payloads: chunk.map((run) => run.payload),
        createdAts: chunk.map((run) => run.createdAt),
        now,
        at,
      }),
    )
    const results = within ? await session.writeWithin(within, queries) : await session.write(queries)
    const created: Created[] = []
    for (const [i, chunk] of chunks.entries()) {
      const [row = {}] = results[i] ?? []
      const read = reader('run', chunk[0]?.id, row)
      // Otherwise some are there already: this was sent before, and its answer was lost.
      if (read.integer('stored') !== chunk.length) return createOthers(runs, options)
      for (const run of chunk) created.push({ run: firstRow(run, row, read.integer('run_at')), created: true })
    }
    return created
  }
}

function isDueAtOnce(run: NewRun): boolean {
  return isPlain(run) && run.delayMs === null && run.runAt === null && isStoredAsGiven(run.jobName) && isStoredAsGiven(run.payload)
}

/** The row as it was stored, without reading it. */
function firstRow(run: NewRun, answer: Row, runAt: number) {
  const row = newRow(run, runAt)
  row.lastEventSequence = 1
  if (answer.read_at !== undefined) row.readAt = Number(answer.read_at)
  return row
}
