// What callers do to schedules. Each write is guarded by the version that its caller has read, and a read after it says why it was refused.
import { type CompiledQuery, sql } from 'kysely'
import { MISFIRES, OVERLAPS, type ScheduleRow } from '../../../model/schedule.ts'
import type { NewSchedule, ScheduleOutcome, ScheduleQuery, ScheduleStore } from '../../cluster/schedules.ts'
import { recorded } from './audit.ts'
import type { LazyDeps } from './lazy-deps.ts'
import type { SchedulesTable } from './schema.ts'
import type { Row } from './session.ts'

type CallersVerbs = Pick<ScheduleStore, 'findSchedules' | 'putSchedule' | 'switchSchedule' | 'deleteSchedule'>

type Defined = Omit<SchedulesTable, 'id' | 'paused' | 'last_scheduled_for' | 'version' | 'leader_epoch' | 'created_at' | 'updated_at'>
type Guard = { id: string; version: number; now: number }

export function sqlSchedules(deps: LazyDeps): CallersVerbs {
  const { statement, db, session, env, tables: t, syntax, reader } = deps
  const scheduleRow = (row: Row) => readSchedule(reader('schedule', row.id, row))
  const insert = recorded<Defined & { id: string; now: number }>(deps, (p) => {
    const now = syntax.now(p)
    return sql`INSERT INTO ${t.schedules} (id, ${sql.join(DEFINED.map(sql.ref))}, paused, version, leader_epoch, created_at, updated_at)
      VALUES (${p('id')}, ${sql.join(DEFINED.map(p))}, 0, 1, 0, ${now}, ${now}) ON CONFLICT DO NOTHING RETURNING *`
  })
  const update = recorded<Defined & Guard>(
    deps,
    (p) => sql`UPDATE ${t.schedules} SET ${sql.join(DEFINED.map((column) => sql`${sql.ref(column)} = ${p(column)}`))},
        version = version + 1, updated_at = ${syntax.now(p)} WHERE id = ${p('id')} AND version = ${p('version')} RETURNING *`,
  )
  const change = recorded<Guard & { paused: number; nextAt: number }>(
    deps,
    (p) => sql`UPDATE ${t.schedules} SET paused = ${p('paused')}, next_at = ${p('nextAt')}, version = version + 1,
        updated_at = ${syntax.now(p)} WHERE id = ${p('id')} AND version = ${p('version')} RETURNING *`,
  )
  const remove = recorded<Guard>(
    deps,
    (p) => sql`DELETE FROM ${t.schedules} WHERE id = ${p('id')} AND version = ${p('version')} RETURNING *`,
  )
  const known = statement<{ id: string }>((p) => sql`SELECT version FROM ${t.schedules} WHERE id = ${p('id')}`)

  async function write(id: string, queries: CompiledQuery[]): Promise<ScheduleOutcome> {
    const answers = await session.write([...queries, known({ id })])
    const [written] = answers.at(0) ?? []
    const [found] = answers.at(-1) ?? []
    return written ? { outcome: 'done', schedule: scheduleRow(written) } : { outcome: 'changed', version: versionOf(found) }
  }

  return {
    async findSchedules(query) {
      const rows = await session.read(findQuery(deps, query, env.wall()).compile(db))
      return { nowMs: Number(rows[0]?.now_ms), schedules: rows.filter((row) => row.id !== null).map(scheduleRow) }
    },
    putSchedule(schedule, options) {
      const { id, version } = schedule
      const values = { ...definedBy(schedule), id, now: env.wall() }
      return write(id, version === null ? insert(values, options, 1) : update({ ...values, version }, options, version + 1))
    },
    switchSchedule({ id, version, paused, nextAt }, options) {
      return write(id, change({ id, version, paused: paused ? 1 : 0, nextAt, now: env.wall() }, options, version + 1))
    },
    deleteSchedule: (id, version, options) => write(id, remove({ id, version, now: env.wall() }, options)),
  }
}

/** The time is answered, too, if no schedule is found. */
function findQuery({ tables: t, syntax }: LazyDeps, { id, due, after, limit }: ScheduleQuery, nowMs: number) {
  const p = () => sql`${nowMs}`
  const now = syntax.now(p)
  const conditions = [sql`true`]
  if (id !== undefined) conditions.push(sql`s.id = ${id}`)
  if (after !== undefined) conditions.push(sql`s.id > ${after}`)
  if (due) conditions.push(sql`s.paused = 0 AND s.next_at <= ${now}`)
  const order = due ? sql`s.next_at, s.id` : sql`s.id`
  return sql`${syntax.clock(p)} SELECT one.now_ms, s.* FROM (SELECT ${now} AS now_ms) AS one LEFT JOIN (SELECT * FROM ${t.schedules} AS s
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${order} LIMIT CAST(${limit} AS bigint)) AS s ON true ORDER BY ${order}`
}

const DEFINED = [
  ...(['job_name', 'cron', 'every_ms', 'timezone', 'payload', 'misfire', 'misfire_max'] as const),
  ...(['overlap', 'jitter_ms', 'concurrency_key', 'labels', 'next_at'] as const),
]

function definedBy(schedule: NewSchedule): Defined {
  return {
    job_name: schedule.jobName,
    cron: schedule.cron,
    every_ms: schedule.everyMs,
    timezone: schedule.timezone,
    payload: schedule.payload,
    misfire: schedule.misfire,
    misfire_max: schedule.misfireMax,
    overlap: schedule.overlap,
    jitter_ms: schedule.jitterMs,
    concurrency_key: schedule.concurrencyKey,
    labels: schedule.labels,
    next_at: schedule.nextAt,
  }
}

/** Null if there is no such schedule. */
export function versionOf(row: Row | undefined): number | null {
  return row ? Number(row.version) : null
}

function readSchedule(read: ReturnType<LazyDeps['reader']>): ScheduleRow {
  return {
    id: read.text('id'),
    jobName: read.text('job_name'),
    cron: read.textOrNull('cron'),
    everyMs: read.integerOrNull('every_ms'),
    timezone: read.text('timezone'),
    payload: read.textOrNull('payload'),
    misfire: read.oneOf('misfire', MISFIRES),
    misfireMax: read.integer('misfire_max'),
    overlap: read.oneOf('overlap', OVERLAPS),
    jitterMs: read.integer('jitter_ms'),
    concurrencyKey: read.textOrNull('concurrency_key'),
    labels: read.textOrNull('labels'),
    paused: read.integer('paused') === 1,
    nextAt: read.integer('next_at'),
    lastScheduledFor: read.integerOrNull('last_scheduled_for'),
    version: read.integer('version'),
    leaderEpoch: read.integer('leader_epoch'),
    createdAt: read.integer('created_at'),
    updatedAt: read.integer('updated_at'),
  }
}
