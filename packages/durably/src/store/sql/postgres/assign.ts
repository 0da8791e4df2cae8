// Assigning runs to workers. Each is one statement, which decides by the rows that it has locked (PG1): the leader's, so that nobody takes the
// lead before the commit, then the workers', so that nobody detaches them meanwhile, then the runs'.
import { sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { type AssignmentStore, ORPHAN_MAX } from '../../cluster/assignments.ts'
import {
  type AssignValues,
  assignEvent,
  assigned,
  assignedRun,
  assignValues,
  isAssignable,
  isKeyUnused,
  isOpen,
  isOrphaned,
  isThere,
  type OrphanValues,
  orphaned,
  unassignedRun,
} from '../shared/assign.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import type { Row } from '../shared/session.ts'
import type { Claims } from './claim.ts'

export function assignRuns(deps: LazyDeps, { claimRuns, dueRuns, isKeyFree, turnOfKey }: Claims): AssignmentStore {
  const { statement, session, env, tables: t, into, syntax, eventLog } = deps
  const elected = sql`elected AS MATERIALIZED (SELECT epoch FROM ${t.leaders} WHERE name = 'leader' FOR SHARE)`
  const events = (move: 'assign' | 'orphan') =>
    eventLog
      ? sql`, events AS (INSERT INTO ${into.events} SELECT id, last_event_sequence, ${assignEvent(move, sql`to_json(worker)::text`)}, updated_at FROM moved)`
      : sql``
  const answer = sql`SELECT (SELECT epoch FROM elected) AS leads, moved.id, moved.job_name, moved.worker FROM (SELECT 1) AS one LEFT JOIN moved ON true`

  const find = statement<{ jobs: string; limit: number; now: number }>(
    (p) => sql`${syntax.clock(p)} SELECT id, job_name, version, prefer_worker_id FROM (
      SELECT c.id, c.job_name, c.version, c.prefer_worker_id, c.run_at, ${turnOfKey} AS turn FROM ${syntax.texts(p('jobs'))} AS job CROSS JOIN LATERAL (
        SELECT p.id, p.job_name, p.version, p.prefer_worker_id, p.run_at, p.concurrency_key FROM ${t.runs} AS p
        WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${syntax.now(p)} AND p.assigned_worker_id IS NULL AND ${isKeyUnused(t)}
        ORDER BY p.run_at, p.id LIMIT ${p('limit')}::bigint) AS c) AS first_of_key
      WHERE turn = 1 ORDER BY run_at, id LIMIT ${p('limit')}::bigint`,
  )
  const assign = statement<AssignValues>(
    (p) => sql`${syntax.clock(p)}, ${elected},
      given AS MATERIALIZED (SELECT e.value ->> 0 AS run_id, (e.value ->> 1)::integer AS version, e.value ->> 2 AS worker FROM ${syntax.elements(p('rows'))} AS e),
      w AS MATERIALIZED (SELECT w.id FROM ${t.workers} AS w WHERE w.id IN (SELECT worker FROM given) AND (SELECT count(*) FROM elected) >= 0
        AND ${isThere(syntax.now(p))} ORDER BY w.id FOR SHARE),
      r AS MATERIALIZED (SELECT r.id, given.worker FROM given JOIN w ON w.id = given.worker JOIN ${t.runs} AS r ON r.id = given.run_id
        WHERE ${isAssignable(p, sql`given.version`)} AND (SELECT epoch FROM elected) = ${p('epoch')} ORDER BY r.id FOR NO KEY UPDATE OF r),
      moved AS (UPDATE ${t.runs} AS r SET ${assigned(p, sql`chosen.worker`, syntax.now(p))} FROM r AS chosen
        WHERE r.id = chosen.id RETURNING r.*, chosen.worker AS worker)${events('assign')}
      ${answer}`,
  )
  const orphan = statement<OrphanValues>(
    (p) => sql`${syntax.clock(p)}, ${elected},
      r AS MATERIALIZED (SELECT r.id, r.assigned_worker_id AS worker FROM ${t.runs} AS r
        WHERE ${isOrphaned(deps, p, syntax.now(p))} AND (SELECT epoch FROM elected) = ${p('epoch')} ORDER BY r.id LIMIT ${sql.lit(ORPHAN_MAX)} FOR NO KEY UPDATE OF r),
      moved AS (UPDATE ${t.runs} AS r SET ${orphaned(p)} FROM r AS chosen WHERE r.id = chosen.id RETURNING r.*, chosen.worker AS worker)${events('orphan')}
      ${answer}`,
  )
  /** Those that are assigned to the worker, in place of all that are due. */
  const claimAssigned = claimRuns(
    deps,
    (_, p, most) => sql`SELECT c.id, c.run_at, ${turnOfKey} AS turn FROM (
      SELECT p.id, p.run_at, p.concurrency_key FROM ${t.runs} AS p
      WHERE p.assigned_worker_id = ${p('workerId')} AND p.status = 'pending' AND p.run_at <= ${syntax.now(p)}
        AND p.job_name IN (SELECT value FROM ${syntax.texts(p('jobs'))} AS job) AND ${isKeyFree(t, syntax)} AND NOT EXISTS (SELECT 1 FROM mine)
      ORDER BY p.run_at, p.id LIMIT ${most}) AS c`,
  )
  const claimOpen = claimRuns(deps, (all, p, most) => dueRuns(all, p, most, isOpen(deps, p, syntax.now(p))))

  function moved(rows: readonly Row[], epoch: number) {
    return Number(rows[0]?.leads) === epoch ? rows.filter(({ id }) => id !== null).map(assignedRun) : null
  }

  return {
    async findUnassigned({ jobNames, limit }) {
      const rows = await session.read(find({ jobs: JSON.stringify(jobNames), limit, now: env.wall() }))
      return rows.map(unassignedRun)
    },
    async assign(request) {
      const [rows = []] = await session.write([assign(assignValues(request, env.wall()))])
      return moved(rows, request.epoch)
    },
    async orphan(request) {
      const now = env.wall()
      const [rows = []] = await session.write([orphan({ ...request, now, at: iso(now) })])
      return moved(rows, request.epoch)
    },
    claimAssigned,
    claimOpen,
  }
}
