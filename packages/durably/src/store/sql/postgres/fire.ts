// Firing a schedule, and triggering it by hand. Each is one statement, which decides by the rows that it has locked (PG1): the leader's, so
// that nobody takes the lead before the commit, then the schedule's.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { ScheduledRun, ScheduleStore } from '../../cluster/schedules.ts'
import { recordable } from '../shared/audit.ts'
import { type FiringValues, firingOutcome, firingValues, mayFire, used } from '../shared/fire.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import { versionOf } from '../shared/schedules.ts'
import type { Param } from '../shared/statement.ts'

type RunValues = ReturnType<typeof columnsOf> & { now: number; at: string }

export function fireSchedules(deps: LazyDeps): Pick<ScheduleStore, 'fireSchedule' | 'triggerSchedule'> {
  const { statement, session, env, tables: t, into, syntax, eventLog, runRow } = deps
  const events = (p: Param<RunValues>) =>
    eventLog ? sql`, events AS (INSERT INTO ${into.events} SELECT id, 1, 'run:trigger', '{}', ${p('at')} FROM created)` : sql``
  /** The runs of the schedule `fit`, if there is one. */
  const created = (p: Param<RunValues>, where: RawBuilder<unknown>) => sql`given AS (
      SELECT * FROM unnest(${p('ids')}::text[], ${p('jobs')}::text[], ${p('payloads')}::text[], ${p('concurrencyKeys')}::text[], ${p('labels')}::text[],
        ${p('createdAts')}::text[], ${p('runAts')}::bigint[], ${p('slots')}::bigint[]) WITH ORDINALITY
        AS g(id, job_name, payload, concurrency_key, labels, created_at, run_at, scheduled_for, position)),
    created AS (INSERT INTO ${t.runs} (id, job_name, payload, concurrency_key, labels, created_at, heartbeat_at, updated_at, status, run_at,
        scheduled_for, schedule_id, last_event_sequence)
      SELECT g.id, g.job_name, g.payload, g.concurrency_key, g.labels, g.created_at, g.created_at, g.created_at, 'pending',
        coalesce(g.run_at, ${syntax.now(p)}), g.scheduled_for, fit.id, 1
      FROM given AS g CROSS JOIN fit WHERE ${where} ORDER BY g.position ON CONFLICT DO NOTHING RETURNING *)${events(p)},
    labels AS (INSERT INTO ${t.labels} SELECT label.key, label.value, created.id FROM created, json_each_text(created.labels::json) AS label)`
  const answer = (p: Param<RunValues>) => sql`(SELECT * FROM created UNION ALL SELECT * FROM ${t.runs} WHERE id = ANY(${p('ids')}::text[]))`
  const isBusy = sql`EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.schedule_id = fit.id AND r.finished_at IS NULL)`

  const fire = statement<FiringValues & RunValues>(
    (p) => sql`${syntax.clock(p)},
      elected AS MATERIALIZED (SELECT epoch FROM ${t.leaders} WHERE name = 'leader' FOR SHARE),
      s AS MATERIALIZED (SELECT * FROM ${t.schedules} WHERE id = ${p('id')} AND (SELECT count(*) FROM elected) >= 0 FOR NO KEY UPDATE),
      fit AS MATERIALIZED (SELECT s.* FROM s CROSS JOIN elected WHERE elected.epoch = ${p('epoch')} AND ${mayFire(p, syntax.now(p))}),
      ${created(p, sql`g.scheduled_for > coalesce(fit.last_scheduled_for, -1) AND (fit.overlap <> 'skip' OR (g.position = 1 AND NOT ${isBusy}))`)},
      moved AS (UPDATE ${t.schedules} AS s SET ${used(p, syntax.now(p))} FROM fit WHERE s.id = fit.id RETURNING s.id)
      SELECT (SELECT count(*) FROM moved) AS moved, (SELECT epoch FROM elected) AS leads, s.version AS s_version, s.paused AS s_paused,
        s.leader_epoch AS s_leader_epoch, s.last_scheduled_for AS s_last, r.* FROM (SELECT 1) AS one LEFT JOIN s ON true LEFT JOIN ${answer(p)} AS r ON true`,
  )
  const trigger = recordable<RunValues & { id: string; version: number }>(
    deps,
    (p, entry) => sql`${syntax.clock(p)},
      s AS MATERIALIZED (SELECT * FROM ${t.schedules} WHERE id = ${p('id')} FOR KEY SHARE),
      fit AS (SELECT * FROM s WHERE s.version = ${p('version')}),
      ${created(p, sql`true`)}${entry(sql`created`)}
      SELECT s.version AS s_version, r.* FROM (SELECT 1) AS one LEFT JOIN s ON true LEFT JOIN ${answer(p)} AS r ON true`,
  )

  return {
    async fireSchedule(firing) {
      const now = env.wall()
      const [rows = []] = await session.write([fire({ ...firingValues(firing), ...columnsOf(firing.runs), now, at: iso(now) })])
      const [first] = rows
      const state = {
        epoch: first?.leads,
        version: first?.s_version,
        paused: first?.s_paused,
        leader_epoch: first?.s_leader_epoch,
        last_scheduled_for: first?.s_last,
      }
      const runs = rows.filter((row) => row.id !== null).map(runRow)
      return firingOutcome(firing, Number(first?.moved) > 0, state, runs)
    },
    async triggerSchedule({ scheduleId, version, run }, options = {}) {
      const now = env.wall()
      const values = { ...columnsOf([run]), id: scheduleId, version, now, at: iso(now) }
      const [[row] = []] = await session.write([trigger(values, options, version)])
      if (row?.id != null) return { outcome: 'triggered', run: runRow(row) }
      return { outcome: 'changed', version: row?.s_version == null ? null : versionOf({ version: row.s_version }) }
    },
  }
}

function columnsOf(runs: readonly ScheduledRun[]) {
  return {
    ids: runs.map((run) => run.id),
    jobs: runs.map((run) => run.jobName),
    payloads: runs.map((run) => run.payload),
    concurrencyKeys: runs.map((run) => run.concurrencyKey),
    labels: runs.map((run) => run.labels),
    createdAts: runs.map((run) => run.createdAt),
    runAts: runs.map((run) => textOrNull(run.runAt)),
    slots: runs.map((run) => textOrNull(run.scheduledFor)),
  }
}

function textOrNull(ms: number | null): string | null {
  return ms === null ? null : String(ms)
}
