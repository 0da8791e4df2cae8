// The list of runs as one statement. Every index of runs ends with the id, so each of them has its runs in the order of the list.
//   L1. One condition leads: its index is read in the order of the list until the page is full, and the others are checked for each row.
//       So a page reads at most the runs that fit the leading condition and the range of ids.
//   L2. Jobs and statuses lead together: the first of each pair are merged.
import { type RawBuilder, sql } from 'kysely'
import { PHASES } from '../../../model/phase.ts'
import { RUN_STATUSES, type RunStatus } from '../../../model/run.ts'
import type { RunQuery } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { byFirstLabel, haveLabels } from './labelled-runs.ts'
import { isPhase, statusOf } from './phase.ts'
import { WITHOUT_VALUES } from './without-values.ts'

type Fragment = RawBuilder<unknown>
type ListDeps = Pick<SqlDeps, 'tables' | 'syntax'>

/** `null` when no run can fit. */
export function listRuns(deps: ListDeps, query: RunQuery, nowMs: number): Fragment | null {
  const { syntax } = deps
  const now = () => sql`${nowMs}`
  const clock = query.phases ? syntax.clock(now) : sql``
  const found = leads(deps, query, syntax.now(now))
  const pages = found.map(({ from, where }) => sql`FROM ${from} WHERE ${sql.join([...where, ...others(query)], sql` AND `)}`)
  const order = orderOf(query)
  const columns = query.withoutValues ? WITHOUT_VALUES : sql`r.*`
  const [only, ...more] = pages
  if (!only || query.limit === 0) return null
  if (more.length === 0) return sql`${clock} SELECT ${columns}${syntax.readAt} ${only} ${order}`
  const each = pages.map((page) => sql`SELECT * FROM (SELECT ${columns} ${page} ${order}) AS page`)
  return sql`${clock} SELECT r.*${syntax.readAt} FROM (${sql.join(each, sql` UNION ALL `)}) AS r ${order}`
}

interface Lead {
  from: Fragment
  where: Fragment[]
}

/** The condition that leads (L1), the narrowest that is given. Without a limit there is no page to fill, so the database may choose. */
function leads({ tables: t, syntax }: ListDeps, query: RunQuery, now: Fragment): Lead[] {
  const { jobNames, limit } = query
  const statuses = statusesOf(query)?.map((status) => hasStatus(status, query, now))
  if (statuses?.length === 0 || jobNames?.length === 0) return []
  const by = (index: string) => sql`${t.runs} AS r ${syntax.by(t.index(index))}`
  const all = (from: Fragment, where = haveLabels(t, Object.entries(query.labels ?? {}), sql`r.id`)) => [
    {
      from,
      where: [
        ...where,
        ...(statuses ? [sql`(${sql.join(statuses, sql` OR `)})`] : []),
        ...(jobNames ? [sql`r.job_name IN (${sql.join(jobNames)})`] : []),
      ],
    },
  ]
  if (query.parentRunId !== undefined) return all(by('runs_parent'))
  if (query.idempotencyKey !== undefined) return all(by('runs_idempotent'))
  if (query.concurrencyKey !== undefined) return all(by('runs_concurrency'))
  if (query.scheduleId !== undefined) return all(by(isActiveOnly(query) ? 'runs_schedule_active' : 'runs_schedule'))
  if (isByEnd(query)) return all(by('runs_finished_at'))
  if (isByLabel(query)) {
    const { from, where } = byFirstLabel(t, query)
    return all(from, where)
  }
  if (isInRound(query)) return all(by('runs_in_round'))
  if (limit === undefined || !(statuses || jobNames)) return all(sql`${t.runs} AS r`)
  const from = by(jobNames ? 'runs_job' : 'runs_status')
  return (statuses ?? RUN_STATUSES.map((status) => hasStatus(status, {}, now))).flatMap((status) =>
    jobNames ? jobNames.map((job) => ({ from, where: [status, sql`r.job_name = ${job}`] })) : { from, where: [status] },
  )
}

/** Those that are asked for, by themselves or by their phases; `undefined` means all. */
function statusesOf({ statuses, phases }: RunQuery): readonly RunStatus[] | undefined {
  const ofPhases = phases?.map(statusOf)
  return ofPhases ? RUN_STATUSES.filter((status) => ofPhases.includes(status) && (statuses?.includes(status) ?? true)) : statuses
}

/** And is in one of the phases, where not every phase of the status is wanted. */
function hasStatus(status: RunStatus, { phases }: RunQuery, now: Fragment): Fragment {
  const has = sql`r.status = ${status}`
  const wanted = phases?.filter((phase) => statusOf(phase) === status) ?? []
  if (!phases || PHASES.every((phase) => statusOf(phase) !== status || wanted.includes(phase))) return has
  return sql`${has} AND (${sql.join(
    wanted.map((phase) => sql`(${isPhase(phase, now)})`),
    sql` OR `,
  )})`
}

/** What is asked whatever leads; the id always is, so that SQLite searches the primary key for a list of all runs. */
function others(query: RunQuery): Fragment[] {
  const {
    parentRunId,
    idempotencyKey,
    concurrencyKey,
    scheduleId,
    fromId = '',
    beforeId,
    finishedFrom,
    finishedBefore,
    after,
    oldestFirst,
    timedOut,
  } = query
  const past = oldestFirst ? sql`>` : sql`<`
  const id = idOf(query)
  const conditions = [sql`${id} >= ${fromId}`]
  if (parentRunId !== undefined) conditions.push(sql`r.parent_run_id = ${parentRunId}`)
  if (idempotencyKey !== undefined) conditions.push(sql`r.idempotency_key = ${idempotencyKey}`)
  if (concurrencyKey !== undefined) conditions.push(sql`r.concurrency_key = ${concurrencyKey}`)
  if (scheduleId !== undefined) conditions.push(sql`r.schedule_id = ${scheduleId}`)
  if (isActiveOnly(query)) conditions.push(sql`r.finished_at IS NULL`)
  if (timedOut !== undefined)
    conditions.push(sql`(r.status <> 'failed' OR coalesce(r.reason, '') ${timedOut ? sql`=` : sql`<>`} 'timeout')`)
  if (isInRound(query)) conditions.push(sql`r.assigned_at IS NOT NULL`)
  if (beforeId !== undefined) conditions.push(sql`${id} < ${beforeId}`)
  if (isByEnd(query)) conditions.push(sql`r.finished_at >= ${finishedFrom ?? 0}`)
  if (finishedBefore !== undefined) conditions.push(sql`r.finished_at < ${finishedBefore}`)
  if (after && isByEnd(query)) conditions.push(sql`(r.finished_at, r.id) ${past} (${after.finishedAt ?? 0}, ${after.id})`)
  else if (after) conditions.push(sql`${id} ${past} ${after.id}`)
  return conditions
}

/** In the index that leads, so that it is searched and read in order. */
function idOf(query: RunQuery): Fragment {
  return isByLabel(query) ? sql`l.run_id` : sql`r.id`
}

function isByLabel(query: RunQuery): boolean {
  const { parentRunId, idempotencyKey, concurrencyKey, scheduleId, labels = {} } = query
  return Object.keys(labels).length > 0 && (parentRunId ?? idempotencyKey ?? concurrencyKey ?? scheduleId) === undefined && !isByEnd(query)
}

/** Few of the runs of a schedule, however many it has had. */
function isActiveOnly({ scheduleId, statuses }: RunQuery): boolean {
  return scheduleId !== undefined && (statuses?.every((status) => status === 'pending' || status === 'running') ?? false)
}

/** As few as the workers have room for, however many runs wait. */
function isInRound({ phases = [] }: RunQuery): boolean {
  return phases.length > 0 && phases.every((phase) => phase === 'assigned' || phase === 'orphaned')
}

function isByEnd({ finishedFrom, finishedBefore }: RunQuery): boolean {
  return finishedFrom !== undefined || finishedBefore !== undefined
}

function orderOf(query: RunQuery): Fragment {
  const { limit = Number.MAX_SAFE_INTEGER, oldestFirst } = query
  const way = oldestFirst ? sql`ASC` : sql`DESC`
  const order = isByEnd(query) ? sql`r.finished_at ${way}, r.id ${way}` : sql`${idOf(query)} ${way}`
  return sql`ORDER BY ${order} LIMIT CAST(${limit} AS bigint)`
}
