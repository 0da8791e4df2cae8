// A claim as one statement.
//   C1. Only the run that is taken gets locked: a candidate that someone else is taking is passed over, and nobody has to
//       pass over one that is not taken.
//   C2. Two claims can pick two runs of one free key; the index of running keys lets one of them through.
//   C3. Nothing claimed although there were candidates is a lost race, not an empty queue.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../../model/env.ts'
import type { RunRow } from '../../../../model/run.ts'
import type { ClaimRequest, RunStore } from '../../../runs.ts'
import type { SqlContext } from '../../context.ts'
import { canMove, eventType } from '../../guards.ts'
import { runRow } from '../../rows.ts'
import { type ClaimValues, newLease, startPayload } from '../../runs/claim.ts'
import { EVENT_COLUMNS } from '../../runs/owner-moves.ts'
import { type Param, statement } from '../../statement.ts'

/** As many claims can pass over each other at once; more of them lose a race. */
const CANDIDATES_MAX = 16

/** The last ones are told that there is nothing: another process works through the queue faster. */
const RACES_MAX = 8

export function claimRun({ db, session, env, tables: t, syntax, isKeyTaken }: SqlContext): RunStore['claim'] {
  /** The first claimable runs of each job by `runs_pick`, then the oldest of these: the backlog is never sorted. */
  const candidates = (p: Param<ClaimValues>): RawBuilder<unknown> => sql`
    SELECT c.id, c.run_at FROM ${syntax.texts(p('jobs'))} AS job CROSS JOIN LATERAL (
      SELECT p.id, p.run_at FROM ${t.runs} AS p
      WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${syntax.now(p)}
        AND (p.concurrency_key IS NULL OR NOT EXISTS (
          SELECT 1 FROM ${t.runs} AS k WHERE k.status = 'running' AND k.concurrency_key = p.concurrency_key))
      ORDER BY p.run_at, p.id LIMIT ${sql.lit(CANDIDATES_MAX)}) AS c
    WHERE NOT EXISTS (SELECT 1 FROM mine)
    ORDER BY c.run_at, c.id LIMIT ${sql.lit(CANDIDATES_MAX)}`
  const claim = statement<ClaimValues>(
    db,
    (p) => sql`${syntax.clock(p)},
      mine AS (SELECT * FROM ${t.runs} WHERE lease_owner = ${p('token')}),
      candidates AS MATERIALIZED (${candidates(p)}),
      picked AS (
        SELECT r.id AS picked_id FROM candidates AS c JOIN ${t.runs} AS r ON r.id = c.id
        WHERE ${canMove('claim')} ORDER BY c.run_at, c.id LIMIT 1 ${syntax.skipLocked}),
      claimed AS (
        UPDATE ${t.runs} AS r SET ${newLease(p, syntax.now(p))} FROM picked WHERE r.id = picked.picked_id RETURNING r.*),
      started AS (
        INSERT INTO ${t.events} (${EVENT_COLUMNS})
        SELECT r.id, r.last_event_sequence, ${eventType('claim')}, ${startPayload}, ${p('at')} FROM claimed AS r)
      SELECT race.*, run.* FROM (SELECT EXISTS (SELECT 1 FROM candidates) AS contested) AS race
      LEFT JOIN (SELECT * FROM claimed UNION ALL SELECT * FROM mine) AS run ON true`,
  )

  async function attempt({ jobNames, token, leaseMs }: ClaimRequest): Promise<RunRow | null | 'lost race'> {
    const now = env.wall()
    try {
      const [rows] = await session.write([claim({ jobs: JSON.stringify(jobNames), token, now, leaseMs, at: iso(now) })])
      const row = rows?.[0]
      if (row && row.id !== null) return runRow(row)
      return row?.contested ? 'lost race' : null
    } catch (error) {
      if (isKeyTaken(error)) return 'lost race'
      throw error
    }
  }

  return async (request) => {
    for (let races = 0; races < RACES_MAX; races++) {
      const claimed = await attempt(request)
      if (claimed !== 'lost race') return claimed
    }
    return null
  }
}
