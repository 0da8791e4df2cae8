// What assigning means on all databases: the guards as SQL, and what is changed.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { AssignedRun, AssignRequest, UnassignedRun } from '../../cluster/assignments.ts'
import type { ClaimValues } from './claim.ts'
import type { SqlDeps } from './deps.ts'
import { canMove, eventType, isKeyInUse } from './guards.ts'
import type { LazyDeps } from './lazy-deps.ts'
import type { Tables } from './schema.ts'
import type { Row } from './session.ts'
import { setting } from './setting.ts'
import type { Param } from './statement.ts'

export interface LeaderValues {
  epoch: number
  now: number
  at: string
}

export interface AssignValues extends LeaderValues {
  /** Rows of `[runId, version, workerId]`, as JSON. */
  rows: string
}

export interface OrphanValues extends LeaderValues {
  reassignAfterMs: number
}

type Fragment = RawBuilder<unknown>

/** The pending run `p` holds its concurrency key (`holdsKey`). */
const holdsKey = sql`p.hold_key = 1 AND p.lease_generation > p.retry_generation`

/** Neither another run has the key of the pending run `p`, nor is one of that key assigned. A run that holds its key does not wait for such a one: that one waits for it. */
export function isKeyUnused(t: Pick<Tables, 'runs'>): Fragment {
  return sql`(p.concurrency_key IS NULL OR ${holdsKey} OR NOT (
        EXISTS (SELECT 1 FROM ${t.runs} AS k WHERE ${isKeyInUse} AND k.concurrency_key = p.concurrency_key)
        OR EXISTS (SELECT 1 FROM ${t.runs} AS k WHERE k.assigned_worker_id IS NOT NULL AND k.concurrency_key = p.concurrency_key)))`
}

/** A4, of the pending run `p`, as a further condition. */
export function isOpen({ tables: t, syntax }: Pick<LazyDeps, 'tables' | 'syntax'>, p: Param<ClaimValues>, now: Fragment): Fragment {
  const isLeftToAnother = (run: Fragment) => sql`(${run}.prefer_worker_id IS NOT NULL AND ${run}.prefer_worker_id <> ${p('workerId')}
          AND ${run}.run_at + ${p('preferMs')} > ${now}
          AND EXISTS (SELECT 1 FROM ${t.workers} AS w WHERE w.id = ${run}.prefer_worker_id AND ${isThere(now)}))`
  return sql` AND NOT ${isLeftToAnother(sql`p`)} AND (p.concurrency_key IS NULL OR ${holdsKey} OR NOT EXISTS (
          SELECT 1 FROM ${t.runs} AS q ${syntax.by(t.index('runs_preferring'))} WHERE q.status = 'pending' AND q.prefer_worker_id IS NOT NULL
          AND q.concurrency_key = p.concurrency_key AND (q.run_at, q.id) < (p.run_at, p.id) AND ${isLeftToAnother(sql`q`)}))`
}

/** A1, of the run `r`; `version` is the one that the leader has read. */
export function isAssignable(p: Param<LeaderValues>, version: Fragment): Fragment {
  return sql`${canMove('assign')} AND r.version = ${version} AND r.assigned_worker_id IS NULL AND coalesce(r.leader_epoch, 0) <= ${p('epoch')}`
}

/** A2, of the worker `w`. */
export function isThere(now: Fragment): Fragment {
  return sql`w.state = 'attached' AND w.expires_at > ${now}`
}

export function assigned(p: Param<LeaderValues>, worker: Fragment, now: Fragment): Fragment {
  return sql`assigned_worker_id = ${worker}, assigned_at = ${now}, assign_count = r.assign_count + 1, leader_epoch = ${p('epoch')},
    version = r.version + 1, last_event_sequence = r.last_event_sequence + 1, updated_at = ${p('at')}`
}

/** The run `r` was assigned long ago to a worker that is detached or silent. */
export function isOrphaned(deps: Pick<SqlDeps, 'tables' | 'syntax'>, p: Param<OrphanValues>, now: Fragment): Fragment {
  const { workers } = deps.tables
  const reassignAfterMs = setting(deps, 'reassignAfterMs', p('reassignAfterMs'))
  return sql`${canMove('orphan')} AND r.assigned_worker_id IS NOT NULL AND r.assigned_at + ${reassignAfterMs} <= ${now}
    AND NOT EXISTS (SELECT 1 FROM ${workers} AS w WHERE w.id = r.assigned_worker_id AND w.state <> 'detached' AND w.expires_at > ${now})`
}

export function orphaned(p: Param<LeaderValues>): Fragment {
  return sql`assigned_worker_id = NULL, leader_epoch = ${p('epoch')}, version = r.version + 1, last_event_sequence = r.last_event_sequence + 1, updated_at = ${p('at')}`
}

/** The event of a run whose worker was chosen or taken away. */
export function assignEvent(move: 'assign' | 'orphan', workerAsJson: Fragment): Fragment {
  return sql`${eventType(move)}, '{"workerId":' || ${workerAsJson} || '}'`
}

export function assignValues({ epoch, assignments }: AssignRequest, now: number): AssignValues {
  return { epoch, now, at: iso(now), rows: JSON.stringify(assignments.map(({ runId, version, workerId }) => [runId, version, workerId])) }
}

export function unassignedRun(row: Row): UnassignedRun {
  const preferWorkerId = row.prefer_worker_id === null ? null : String(row.prefer_worker_id)
  return { id: String(row.id), jobName: String(row.job_name), version: Number(row.version), preferWorkerId }
}

export function assignedRun(row: Row): AssignedRun {
  return { id: String(row.id), jobName: String(row.job_name), workerId: String(row.worker) }
}
