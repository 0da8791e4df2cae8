// Schedules are found and fired, and their runs are found, by an index, however many there are.
import { CompiledQuery, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { fireSchedules } from '../../src/store/sql/postgres/fire.ts'
import { chunked, jsonRows } from '../../src/store/sql/shared/json-rows.ts'
import { logValues } from '../../src/store/sql/shared/log-values.ts'
import { awokenParent } from '../../src/store/sql/shared/owner-moves.ts'
import { probeRuns } from '../../src/store/sql/shared/probe.ts'
import { reader, runRow } from '../../src/store/sql/shared/rows.ts'
import { sqlSchedules } from '../../src/store/sql/shared/schedules.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import { migratedPostgres } from './place.ts'
import { capturing, explain, rowsRead } from './plans.ts'

const ROWS = 100_000
const PAGE = 20

test('none of 100,000 schedules and runs is read that is not asked for', { timeout: 120_000 }, async () => {
  const { store } = await migratedPostgres()
  await fill(store.db)
  const { deps, sent } = capturing(store.db)
  const late = { ...deps, db: store.db, runRow, reader, chunked, jsonRows, logValues, awokenParent }
  const { findSchedules, switchSchedule, deleteSchedule } = sqlSchedules(late)
  const { fireSchedule, triggerSchedule } = fireSchedules(late)
  const run = { id: 'new', jobName: 'job', payload: null, concurrencyKey: null, labels: null, createdAt: '', runAt: 7, scheduledFor: 7 }
  const named = { scheduleId: 'schedule 00000007', version: 0 }
  for (const act of [
    () => probeRuns(deps)(['job']),
    () => findSchedules({ due: true, limit: PAGE }),
    () => findSchedules({ after: 'schedule 00050000', limit: PAGE }),
    () => findSchedules({ id: 'schedule 00000007', limit: 1 }),
    () => fireSchedule({ epoch: 1, ...named, runs: [run], lastScheduledFor: 7, nextAt: 8 }),
    () => triggerSchedule({ ...named, run: { ...run, scheduledFor: null } }),
    () => switchSchedule({ id: 'schedule 00000007', version: 0, paused: true, nextAt: 8 }),
    () => deleteSchedule('schedule 00000007', 0),
  ]) {
    await act().catch(() => {})
    expect(sent.length).toBeGreaterThan(0)
    for (const query of sent.splice(0)) {
      const nodes = await explain(store.db, query)
      const read = nodes.map((node) => [node['Node Type'], node['Actual Rows'], node['Rows Removed by Filter']])
      expect(rowsRead(nodes), `${query.sql} ${JSON.stringify(read)}`).toBeLessThanOrEqual(4 * PAGE)
    }
  }
})

/** A tenth of the schedules is due; each has had a run. */
async function fill(db: Kysely<DurablyTables>): Promise<void> {
  const run = (sql: string) => db.executeQuery(CompiledQuery.raw(sql))
  await run(`INSERT INTO leaders VALUES ('leader', 1, 'w', 't', 0, 0)`)
  await run(`INSERT INTO schedules (id, job_name, cron, every_ms, timezone, payload, misfire, misfire_max, overlap, jitter_ms, paused, next_at, version, leader_epoch, created_at, updated_at)
    SELECT 'schedule ' || lpad(i::text, 8, '0'), 'job', NULL, 60000, 'UTC', 'null', 'once', 100, 'allow', 0, 0,
      CASE WHEN i % 10 = 0 THEN i ELSE 9000000000000 + i END, 0, 0, 0, 0 FROM generate_series(1, ${ROWS}) AS i`)
  await run(`INSERT INTO runs (id, job_name, payload, status, heartbeat_at, created_at, updated_at, run_at, schedule_id, scheduled_for, finished_at)
    SELECT 'run ' || lpad(i::text, 8, '0'), 'job', 'null', 'completed', '', '', '', i, 'schedule ' || lpad(i::text, 8, '0'), 1, i
    FROM generate_series(1, ${ROWS}) AS i`)
  await run('ANALYZE schedules')
  await run('ANALYZE runs')
}
