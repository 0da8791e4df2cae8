import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { ClaimRequest, RunStore } from '../../runs.ts'
import type { SqlContext } from '../shared/deps.ts'
import { cancelOf, canMove, eventType, target } from '../shared/guards.ts'
import { EVENT_COLUMNS } from '../shared/owner-moves.ts'
import { runRow } from '../shared/rows.ts'
import type { Row } from '../shared/session.ts'
import { type Param, statement } from '../shared/statement.ts'

/** A lost race means that someone else got a run, so a few suffice. */
const RACES_MAX = 5

/** Runs that may wait for the same keys as those before them; a longer queue makes a claim smaller. */
export const SPARE_CANDIDATES = 16

export interface ClaimValues {
  /** A JSON array. */
  jobs: string
  /** A JSON array. */
  tokens: string
  wanted: number
  /** How many runs of a job it looks at. */
  candidates: number
  now: number
  leaseMs: number
  at: string
}

type Fragment = RawBuilder<unknown>

/** What a claim makes of a run: it starts, and what its last attempt left in its open streams is taken back. */
export function newLease(
  { syntax, tables: t }: Pick<SqlContext, 'syntax' | 'tables'>,
  p: Param<ClaimValues>,
  token: Fragment,
  now: Fragment,
): Fragment {
  return sql`status = ${target('claim')}, lease_owner = ${token}, lease_generation = lease_generation + 1,
        lease_expires_at = ${now} + ${p('leaseMs')}, lease_writes = 0, heartbeat_at = ${p('at')}, updated_at = ${p('at')},
        cancel_requested_at = ${cancelOf(t)}, started_at = coalesce(started_at, ${now}), version = version + 1,
        last_event_sequence = last_event_sequence + 1 + ${syntax.count(sql`streams`)}`
}

/** The events of a claim, of the claimed runs `r`. Ends with a WHERE: SQLite takes an ON CONFLICT right after a join for its condition. */
export function startEvents({ syntax }: Pick<SqlContext, 'syntax'>, claimed: Fragment, at: Fragment): Fragment {
  const before = sql`r.last_event_sequence - ${syntax.count(sql`r.streams`)}`
  return sql`SELECT r.id, ${before}, ${eventType('claim')}, '{"generation":' || r.lease_generation || '}', ${at} FROM ${claimed}
    UNION ALL SELECT r.id, ${before} + 1 + e.key, 'stream:reset', e.value ->> 0, ${at} FROM ${claimed} CROSS JOIN ${syntax.elements(sql`r.streams`)} AS e WHERE true`
}

/** SQLite takes the tables of a CROSS JOIN in their order: a look for each token, however many runs are running. */
function heldUnder({ tables: t, syntax }: Pick<SqlContext, 'tables' | 'syntax'>, tokens: Fragment, run: Fragment): Fragment {
  return sql`${syntax.texts(tokens)} AS token CROSS JOIN ${t.runs} AS ${run} WHERE ${run}.lease_owner = token.value`
}

/** Of several runs `c` that wait for one key, only the first: one statement would take them all. */
export const turnOfKey = sql`row_number() OVER (
  PARTITION BY c.concurrency_key, CASE WHEN c.concurrency_key IS NULL THEN c.id END ORDER BY c.run_at, c.id)`

export function claimRequestValues({ jobNames, tokens, leaseMs }: ClaimRequest, now: number): ClaimValues {
  const wanted = tokens.length
  const candidates = wanted === 1 ? 1 : wanted + SPARE_CANDIDATES
  return { jobs: JSON.stringify(jobNames), tokens: JSON.stringify(tokens), wanted, candidates, now, leaseMs, at: iso(now) }
}

export function claimRuns(context: SqlContext): RunStore['claim'] {
  const { db, session, env, tables: t, syntax, eventLog, isKeyTaken } = context
  const adopt = adoptRuns(context)
  /**
   * The first claimable runs of each job by `runs_pick`, then the oldest of these: the backlog is never sorted. For a bare parameter
   * after LIMIT SQLite would prepare the statement again each time that it is bound, hence the plus.
   */
  const candidates = (p: Param<ClaimValues>) => sql`
    SELECT c.id, c.run_at, ${turnOfKey} AS turn FROM ${syntax.texts(p('jobs'))} AS job JOIN ${t.runs} AS c ON c.id IN (
      SELECT p.id FROM ${t.runs} AS p ${syntax.by(t.index('runs_pick'))}
      WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${p('now')}
        AND (p.concurrency_key IS NULL OR NOT EXISTS (
          SELECT 1 FROM ${t.runs} AS k WHERE k.status = 'running' AND k.concurrency_key = p.concurrency_key))
      ORDER BY p.run_at, p.id LIMIT +${p('candidates')})`
  /** The plus before the status keeps SQLite from going through all that is pending instead of the few that were picked. */
  const claim = statement<ClaimValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET ${newLease(context, p, sql`picked.token`, p('now'))}
      FROM (SELECT first.id, token.value AS token FROM (
          SELECT id, row_number() OVER (ORDER BY run_at, id) - 1 AS place FROM (${candidates(p)}) WHERE turn = 1
        ) AS first JOIN ${syntax.texts(p('tokens'))} AS token ON token.key = first.place) AS picked
      WHERE r.id = picked.id AND +${canMove('claim')}
        AND NOT EXISTS (SELECT 1 FROM ${heldUnder(context, p('tokens'), sql`held`)})
      RETURNING *`,
  )
  /** A run that was written since was claimed by an earlier sending. */
  const started = statement<ClaimValues>(db, (p) => {
    const claimed = sql`(SELECT r.* FROM ${heldUnder(context, p('tokens'), sql`r`)} AND r.lease_writes = 0) AS r`
    return sql`INSERT INTO ${t.events} (${EVENT_COLUMNS}) ${startEvents(context, claimed, p('at'))}
      ON CONFLICT DO NOTHING`
  })

  async function attempt(request: ClaimRequest) {
    const values = claimRequestValues(request, env.wall())
    const [claimed = []] = await session.write(eventLog ? [claim(values), started(values)] : [claim(values)], 'first')
    // Nothing claimed may also mean that this is a claim sent again (S3).
    return claimed.length > 0 ? inTurn(claimed) : adopt(request.tokens)
  }

  return async (request) => {
    for (let races = 1; ; races++) {
      try {
        return await attempt(request)
      } catch (error) {
        if (races === RACES_MAX || !isKeyTaken(error)) throw error
      }
    }
  }
}

export function adoptRuns(context: SqlContext): RunStore['adopt'] {
  const { db, session } = context
  const byToken = statement<{ tokens: string }>(db, (p) => sql`SELECT r.* FROM ${heldUnder(context, p('tokens'), sql`r`)}`)
  return async (tokens) => inTurn(await session.read(byToken({ tokens: JSON.stringify(tokens) }), 'first'))
}

/** Oldest first, as they would have been claimed one by one. */
export function inTurn(rows: readonly Row[]) {
  return rows.map(runRow).sort((a, b) => a.runAt - b.runAt || (a.id < b.id ? -1 : 1))
}
