// What the claims of all databases have in common: what a claim changes in a run, its events, and whose turn it is.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RunRow } from '../../../model/run.ts'
import type { OpenClaimRequest } from '../../cluster/assignments.ts'
import type { ClaimRequest, RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { cancelOf, eventType, isKeyInUse, target } from './guards.ts'
import { runRow } from './rows.ts'
import type { Row } from './session.ts'
import type { Param } from './statement.ts'

/** How many runs a claim looks at beyond those that it wants, because some may wait for the same concurrency key. */
export const SPARE_CANDIDATES = 16

export interface ClaimValues {
  /** The names of the jobs, as a JSON array. */
  jobs: string
  /** The claim tokens, as a JSON array. */
  tokens: string
  /** How many runs of a job it looks at, on SQLite. */
  candidates: number
  now: number
  leaseMs: number
  confirmMs: number | null
  workerId: string | null
  /** See A4; for claims that mind it. */
  preferMs: number
  /** As JSON. */
  workerName: string
  at: string
}

type Fragment = RawBuilder<unknown>

/** What a claim makes of a run: it starts, and what its last attempt left in its open streams is taken back. */
export function newLease(
  { syntax, tables: t }: Pick<SqlDeps, 'syntax' | 'tables'>,
  p: Param<ClaimValues>,
  token: Fragment,
  now: Fragment,
): Fragment {
  return sql`status = ${target('claim')}, lease_owner = ${token}, lease_generation = lease_generation + 1,
        lease_expires_at = ${now} + ${p('leaseMs')}, lease_writes = 0, worker_id = ${p('workerId')}, confirm_ms = ${p('confirmMs')}, heartbeat_at = ${p('at')}, updated_at = ${p('at')},
        cancel_requested_at = ${cancelOf(t)}, started_at = coalesce(started_at, ${now}), version = version + 1,
        last_event_sequence = last_event_sequence + 1 + ${syntax.count(sql`streams`)}`
}

/** The events of a claim, of the claimed runs `r`. Ends with a WHERE: SQLite takes an ON CONFLICT right after a join for its condition. */
export function startEvents({ syntax }: Pick<SqlDeps, 'syntax'>, claimed: Fragment, p: Param<ClaimValues>): Fragment {
  const at = p('at')
  const before = sql`r.last_event_sequence - ${syntax.count(sql`r.streams`)}`
  return sql`SELECT r.id, ${before}, ${eventType('claim')}, '{"generation":' || r.lease_generation || ',"workerId":' || ${p('workerName')} || '}', ${at} FROM ${claimed}
    UNION ALL SELECT r.id, ${before} + 1 + e.key, 'stream:reset', e.value ->> 0, ${at} FROM ${claimed} CROSS JOIN ${syntax.elements(sql`r.streams`)} AS e WHERE true`
}

/** SQLite reads the tables of a CROSS JOIN in their order: one lookup for each token, however many runs are running. */
export function heldUnder({ tables: t, syntax }: Pick<SqlDeps, 'tables' | 'syntax'>, tokens: Fragment, run: Fragment): Fragment {
  return sql`${syntax.texts(tokens)} AS token CROSS JOIN ${t.runs} AS ${run} WHERE ${run}.lease_owner = token.value`
}

/** 1 for the first of several runs `c` that wait for the same key: without it, one statement would claim them all. */
export const turnOfKey = sql`row_number() OVER (
  PARTITION BY c.concurrency_key, CASE WHEN c.concurrency_key IS NULL THEN c.id END ORDER BY c.run_at, c.id)`

/**
 * No other run has the key of the pending run `p`. Of each run only what `runs_pick` has is read, and the keys of running runs are known beforehand:
 * thousands of runs that wait for a key are passed over without a look at any other row (ADR 0029).
 */
export function isKeyFree({ runs }: SqlDeps['tables'], { knownKeys }: SqlDeps['syntax']): Fragment {
  return sql`(p.concurrency_key IS NULL OR p.concurrency_key NOT IN (
        SELECT concurrency_key FROM ${runs} WHERE status = 'running' AND concurrency_key IS NOT NULL LIMIT ${knownKeys})
      AND NOT EXISTS (SELECT 1 FROM ${runs} AS k WHERE ${isKeyInUse} AND k.concurrency_key = p.concurrency_key AND k.id <> p.id))`
}

export function claimRequestValues(request: ClaimRequest, now: number): ClaimValues {
  const { jobNames, tokens, leaseMs, confirmMs, workerId = null, preferMs = 0 } = request as ClaimRequest & Partial<OpenClaimRequest>
  return {
    jobs: JSON.stringify(jobNames),
    tokens: JSON.stringify(tokens),
    candidates: tokens.length + (tokens.length > 1 ? SPARE_CANDIDATES : 0),
    now,
    leaseMs,
    confirmMs: confirmMs || null,
    workerId,
    preferMs,
    workerName: JSON.stringify(workerId),
    at: iso(now),
  }
}

export function adoptRuns(deps: SqlDeps): RunStore['adopt'] {
  const { statement, session } = deps
  const byToken = statement<{ tokens: string }>((p) => sql`SELECT r.* FROM ${heldUnder(deps, p('tokens'), sql`r`)}`)
  return async (tokens) => inTurn(await session.read(byToken({ tokens: JSON.stringify(tokens) }), 'urgent'))
}

/** Oldest first, as they would have been claimed one by one. */
export function inTurn(rows: readonly Row[], toRun: (row: Row) => RunRow = runRow): RunRow[] {
  return rows.map(toRun).sort((a, b) => a.runAt - b.runAt || (a.id < b.id ? -1 : 1))
}
