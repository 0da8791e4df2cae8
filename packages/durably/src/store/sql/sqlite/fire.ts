// Firing a schedule, and triggering it by hand. In each batch the guards read the rows as they were: the schedule is written last.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { ScheduledRun, ScheduleStore } from '../../cluster/schedules.ts'
import { afterwards, entryValues } from '../shared/audit.ts'
import { type FiringValues, firingOutcome, firingValues, mayFire, used } from '../shared/fire.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import { versionOf } from '../shared/schedules.ts'
import type { Param } from '../shared/statement.ts'

interface RunValues {
  id: string
  rows: string
  now: number
}

export function fireSchedules(deps: LazyDeps): Pick<ScheduleStore, 'fireSchedule' | 'triggerSchedule'> {
  const { statement, session, env, tables: t, into, syntax, eventLog, jsonRows, runRow } = deps
  const insertRuns = (p: Param<RunValues>, where: RawBuilder<unknown>) => sql`
    INSERT INTO ${t.runs} (id, job_name, payload, concurrency_key, labels, created_at, heartbeat_at, updated_at, status, run_at,
      scheduled_for, schedule_id, last_event_sequence)
    SELECT e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 5, e.value ->> 5,
      'pending', coalesce(e.value ->> 6, ${p('now')}), e.value ->> 7, s.id, 1
    FROM ${syntax.elements(p('rows'))} AS e CROSS JOIN ${t.schedules} AS s WHERE ${where} ON CONFLICT DO NOTHING`
  const isLeading = (p: Param<FiringValues>) => sql`EXISTS (SELECT 1 FROM ${t.leaders} WHERE name = 'leader' AND epoch = ${p('epoch')})`
  const isBusy = sql`EXISTS (SELECT 1 FROM ${t.runs} AS r ${syntax.by(t.index('runs_schedule_active'))} WHERE r.schedule_id = s.id AND r.finished_at IS NULL)`

  const fireRuns = statement<FiringValues & RunValues>((p) =>
    insertRuns(
      p,
      sql`${mayFire(p, p('now'))} AND ${isLeading(p)} AND e.value ->> 7 > coalesce(s.last_scheduled_for, -1)
        AND (s.overlap <> 'skip' OR (e.key = 0 AND NOT ${isBusy}))`,
    ),
  )
  const triggerRun = statement<RunValues & { version: number }>((p) =>
    insertRuns(p, sql`s.id = ${p('id')} AND s.version = ${p('version')}`),
  )
  /** Only runs that have their own id were inserted, now or the first time; then their first event is there already. */
  const insertEvents = statement<{ rows: string; at: string }>(
    (p) => sql`INSERT INTO ${into.events} SELECT r.id, 1, 'run:trigger', '{}', ${p('at')}
      FROM ${syntax.elements(p('rows'))} AS e CROSS JOIN ${t.runs} AS r WHERE r.id = e.value ->> 0 ON CONFLICT DO NOTHING`,
  )
  const use = statement<FiringValues>(
    (p) => sql`UPDATE ${t.schedules} AS s SET ${used(p, p('now'))} WHERE ${mayFire(p, p('now'))} AND ${isLeading(p)} RETURNING id`,
  )
  const selectRuns = statement<{ rows: string }>(
    (p) => sql`SELECT r.* FROM ${syntax.elements(p('rows'))} AS e CROSS JOIN ${t.runs} AS r WHERE r.id = e.value ->> 0`,
  )
  const selectState = statement<{ id: string }>(
    (p) =>
      sql`SELECT (SELECT epoch FROM ${t.leaders} WHERE name = 'leader') AS epoch, s.* FROM (SELECT 1) LEFT JOIN ${t.schedules} AS s ON s.id = ${p('id')}`,
  )
  const selectVersion = statement<{ id: string }>((p) => sql`SELECT version FROM ${t.schedules} WHERE id = ${p('id')}`)

  const record = afterwards(deps)

  return {
    async fireSchedule(firing) {
      const now = env.wall()
      const values = { ...firingValues(firing), rows: jsonRows(firing.runs.map(toRow)), now, at: iso(now) }
      const events = eventLog ? [insertEvents(values)] : []
      const answers = await session.write([fireRuns(values), ...events, use(values), selectState(values), selectRuns(values)])
      const [moved = [], state = [], rows = []] = answers.slice(-3)
      return firingOutcome(firing, moved.length > 0, state[0], rows.map(runRow))
    },
    async triggerSchedule({ scheduleId, version, run }, { audit } = {}) {
      const now = env.wall()
      const values = { id: scheduleId, version, rows: jsonRows([toRow(run)]), now, at: iso(now) }
      const events = eventLog ? [insertEvents(values)] : []
      const entry = audit ? record(entryValues(audit, version, now)) : []
      const answers = await session.write([triggerRun(values), ...entry, ...events, selectVersion(values), selectRuns(values)])
      const [known = [], [row] = []] = answers.slice(-2)
      return row ? { outcome: 'triggered', run: runRow(row) } : { outcome: 'changed', version: versionOf(known[0]) }
    },
  }
}

function toRow(run: ScheduledRun) {
  return [run.id, run.jobName, run.payload, run.concurrencyKey, run.labels, run.createdAt, run.runAt, run.scheduledFor]
}
