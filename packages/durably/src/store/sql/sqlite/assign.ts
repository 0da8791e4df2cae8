// Assigning runs to workers. In each batch the guards read the rows as they were: the runs are written last.
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
  type LeaderValues,
  type OrphanValues,
  orphaned,
  unassignedRun,
} from '../shared/assign.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import type { Param } from '../shared/statement.ts'
import type { Claims } from './claim.ts'

export function assignRuns(deps: LazyDeps, { claimRuns, dueRuns, isKeyFree, turnOfKey }: Claims): AssignmentStore {
  const { statement, session, env, tables: t, into, syntax, eventLog } = deps
  const isLeading = (p: Param<LeaderValues>) => sql`EXISTS (SELECT 1 FROM ${t.leaders} WHERE name = 'leader' AND epoch = ${p('epoch')})`
  const leads = statement<LeaderValues>((p) => sql`SELECT 1 AS leads WHERE ${isLeading(p)}`)

  const find = statement<{ jobs: string; limit: number; now: number }>(
    (p) => sql`SELECT id, job_name, version, prefer_worker_id FROM (
      SELECT c.id, c.job_name, c.version, c.prefer_worker_id, c.run_at, ${turnOfKey} AS turn FROM ${syntax.texts(p('jobs'))} AS job CROSS JOIN ${t.runs} AS c WHERE c.id IN (
        SELECT p.id FROM ${t.runs} AS p ${syntax.by(t.index('runs_pick'))}
        WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${p('now')} AND p.assigned_worker_id IS NULL AND ${isKeyUnused(t)}
        ORDER BY p.run_at, p.id LIMIT +${p('limit')}))
      WHERE turn = 1 ORDER BY run_at, id LIMIT +${p('limit')}`,
  )

  const chosen = (p: Param<AssignValues>) => sql`${syntax.elements(p('rows'))} AS e
    CROSS JOIN ${t.runs} AS r CROSS JOIN ${t.workers} AS w
    WHERE r.id = e.value ->> 0 AND w.id = e.value ->> 2 AND ${isAssignable(p, sql`e.value ->> 1`)} AND ${isThere(p('now'))} AND ${isLeading(p)}`
  const assignEvents = statement<AssignValues>(
    (p) =>
      sql`INSERT INTO ${into.events} SELECT r.id, r.last_event_sequence + 1, ${assignEvent('assign', sql`json_quote(w.id)`)}, ${p('at')} FROM ${chosen(p)}`,
  )
  const assign = statement<AssignValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${assigned(p, sql`chosen.worker`, p('now'))}
      FROM (SELECT r.id, w.id AS worker FROM ${chosen(p)}) AS chosen WHERE r.id = chosen.id RETURNING id, job_name, assigned_worker_id AS worker`,
  )

  const lost = (
    p: Param<OrphanValues>,
  ) => sql`SELECT r.id, r.job_name, r.assigned_worker_id AS worker FROM ${t.runs} AS r ${syntax.by(t.index('runs_assigned'))}
    WHERE ${isOrphaned(deps, p, p('now'))} AND ${isLeading(p)} ORDER BY r.assigned_worker_id, r.run_at, r.id LIMIT ${sql.lit(ORPHAN_MAX)}`
  const orphanEvents = statement<OrphanValues>(
    (
      p,
    ) => sql`INSERT INTO ${into.events} SELECT r.id, r.last_event_sequence + 1, ${assignEvent('orphan', sql`json_quote(lost.worker)`)}, ${p('at')}
      FROM (${lost(p)}) AS lost CROSS JOIN ${t.runs} AS r WHERE r.id = lost.id`,
  )
  const selectLost = statement<OrphanValues>(lost)
  const orphan = statement<OrphanValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${orphaned(p)} FROM (${lost(p)}) AS lost WHERE r.id = lost.id`,
  )

  /** Those that are assigned to the worker, in place of all that are due. */
  const claimAssigned = claimRuns(
    deps,
    (_, p, { turn }) => sql`SELECT c.id, c.run_at, ${turn} AS turn FROM (
      SELECT p.id, p.run_at, p.concurrency_key FROM ${t.runs} AS p ${syntax.by(t.index('runs_assigned'))}
      WHERE p.assigned_worker_id = ${p('workerId')} AND p.status = 'pending' AND p.run_at <= ${p('now')}
        AND p.job_name IN (SELECT value FROM ${syntax.texts(p('jobs'))}) AND ${isKeyFree(t, syntax)}
      ORDER BY p.run_at, p.id LIMIT +${p('candidates')}) AS c`,
  )
  const claimOpen = claimRuns(deps, (all, p, choice) => dueRuns(all, p, choice, isOpen(deps, p, p('now'))))

  return {
    async findUnassigned({ jobNames, limit }) {
      const rows = await session.read(find({ jobs: JSON.stringify(jobNames), limit, now: env.wall() }))
      return rows.map(unassignedRun)
    },
    async assign(request) {
      const values = assignValues(request, env.wall())
      const answers = await session.write([leads(values), ...(eventLog ? [assignEvents(values)] : []), assign(values)])
      return answers[0]?.length ? (answers.at(-1) ?? []).map(assignedRun) : null
    },
    async orphan(request) {
      const now = env.wall()
      const values = { ...request, now, at: iso(now) }
      const answers = await session.write([leads(values), selectLost(values), ...(eventLog ? [orphanEvents(values)] : []), orphan(values)])
      return answers[0]?.length ? (answers[1] ?? []).map(assignedRun) : null
    },
    claimAssigned,
    claimOpen,
  }
}
