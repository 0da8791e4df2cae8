import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { ClaimRequest, RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import { canMove, eventType, target } from '../guards.ts'
import { runRow } from '../rows.ts'
import { type Param, statement } from '../statement.ts'

/** A lost race means that someone else got a run, so a few suffice. */
const RACES_MAX = 5

export interface ClaimValues {
  /** A JSON array. */
  jobs: string
  token: string
  now: number
  leaseMs: number
  at: string
}

/** What a claim makes of a run. */
export function newLease(p: Param<ClaimValues>, now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`status = ${target('claim')}, lease_owner = ${p('token')}, lease_generation = lease_generation + 1,
        lease_expires_at = ${now} + ${p('leaseMs')}, lease_writes = 0, heartbeat_at = ${p('at')}, updated_at = ${p('at')},
        started_at = coalesce(started_at, ${now}), version = version + 1, last_event_sequence = last_event_sequence + 1`
}

/** Of the claimed run `r`. */
export const startPayload = sql`'{"generation":' || r.lease_generation || '}'`

export function claimRun(context: SqlContext): RunStore['claim'] {
  const { db, session, env, tables: t, syntax, isKeyTaken } = context
  const adopt = adoptRun(context)
  /** The first claimable run of each job by `runs_pick`, then the oldest of these: the backlog is never sorted. */
  const claim = statement<ClaimValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET
        ${newLease(p, p('now'))}
      WHERE ${canMove('claim')} AND r.id = (
        SELECT c.id FROM ${syntax.texts(p('jobs'))} AS job JOIN ${t.runs} AS c ON c.id = (
          SELECT p.id FROM ${t.runs} AS p ${syntax.by(t.index('runs_pick'))}
          WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${p('now')}
            AND (p.concurrency_key IS NULL OR NOT EXISTS (
              SELECT 1 FROM ${t.runs} AS k WHERE k.status = 'running' AND k.concurrency_key = p.concurrency_key))
          ORDER BY p.run_at, p.id LIMIT 1)
        ORDER BY c.run_at, c.id LIMIT 1)
        AND NOT EXISTS (SELECT 1 FROM ${t.runs} AS mine WHERE mine.lease_owner = ${p('token')})
      RETURNING *`,
  )
  const started = statement<{ token: string; at: string }>(
    db,
    (p) => sql`INSERT INTO ${t.events} (run_id, seq, event_type, payload, created_at)
      SELECT r.id, r.last_event_sequence, ${eventType('claim')}, ${startPayload}, ${p('at')}
      FROM ${t.runs} AS r WHERE r.lease_owner = ${p('token')}
      ON CONFLICT DO NOTHING`,
  )

  async function attempt({ jobNames, token, leaseMs }: ClaimRequest) {
    const now = env.wall()
    const at = iso(now)
    const [claimed] = await session.write([claim({ jobs: JSON.stringify(jobNames), token, now, leaseMs, at }), started({ token, at })])
    const row = claimed?.[0]
    // Nothing claimed may also mean that this is a claim sent again (S3).
    return row ? runRow(row) : adopt(token)
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

export function adoptRun({ db, session, tables: t }: SqlContext): RunStore['adopt'] {
  const byToken = statement<{ token: string }>(db, (p) => sql`SELECT * FROM ${t.runs} WHERE lease_owner = ${p('token')}`)
  return async (token) => {
    const [row] = await session.read(byToken({ token }))
    return row ? runRow(row) : null
  }
}
