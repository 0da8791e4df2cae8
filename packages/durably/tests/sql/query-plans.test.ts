// No statement of the store may scan or sort what grows with history or backlog.
import { CompiledQuery, type Dialect } from 'kysely'
import { describe, expect, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import type { OwnerWrite } from '../../src/store/owner-write.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { answering } from './fake-driver.ts'
import { QUERIES } from './list-queries.ts'
import { migratedStore } from './place.ts'
import { claimed, newRun, realEnv, recordStep } from './runs.ts'

/** Scans of a parameter, of a page that was already limited, of the running runs and the one row of their leases, of the register of workers (`w`), of a page of schedules (`s`), and of nothing at all. */
const BOUNDED_SCAN =
  /SCAN (e|c|job|json_each|token|wanted|first|ended|below|page|walk|moved|lost)( VIRTUAL TABLE| LEFT-JOIN$|$)|SCAN \(subquery|SCAN newest$|SCAN r USING INDEX runs_lease_end$|SCAN w USING INDEX sqlite_autoindex_workers_1|SCAN one$|SCAN leases$|SCAN s LEFT-JOIN$|SCAN CONSTANT ROW|SCAN 2-ROW VALUES CLAUSE/
/**
 * The winner among one candidate, or one oldest run, per registered job; the lines of one call; a page of each status and job; the
 * runs of several jobs that have one idempotency key; a page of lost runs, or the family of one run; a page of each job that a leader assigns, what is
 * assigned to one worker, a page of schedules, the running runs whose lease is over, and the
 * runs of a schedule that have not ended.
 */
const BOUNDED_SORT = [
  /INDEXED BY "runs_lease_end" WHERE r\.status = 'running'/,
  /^UPDATE \S+ AS r SET\s+status = 'running'/,
  /^INSERT INTO "logs"/,
  /UNION ALL SELECT \* FROM \(SELECT r\.\* FROM/,
  /INDEXED BY "runs_idempotent"/,
  /^UPDATE \S+ AS r SET signals = r.signals \+ ended.count/,
  /^SELECT \* FROM "signals"/,
  /^SELECT id, job_name, version, prefer_worker_id FROM \(/,
  /^ SELECT one\.now_ms, s\.\*/,
  /INDEXED BY "runs_schedule_active"/,
  /ORDER BY r.assigned_worker_id, r.run_at, r.id LIMIT 50/,
  /ORDER BY p.run_at, p.id LIMIT 1\)\s+ORDER BY r.run_at, r.id LIMIT 1/,
]

// SQLite keeps statistics until somebody asks for new ones: those of a few hundred runs may be in force when there are millions.
describe.each([0, 300, 6000])('in a database with statistics of %i runs, half of them finished', (runs) => {
  test('every verb goes by an index and sorts nothing that grows', async () => {
    const seen = new Set<string>()
    const store = await migratedStore(recording(sqlite(':memory:'), seen))
    if (runs > 0) await fill(store, runs)
    seen.clear()
    await everyVerb(store)
    expect(seen.size).toBeGreaterThan(40)
    for (const sql of seen) {
      const plan = await explain(store, sql)
      const scans = plan.filter((line) => line.includes('SCAN') && !BOUNDED_SCAN.test(line))
      const sorts = plan.filter((line) => line.includes('TEMP B-TREE') && !BOUNDED_SORT.some((pattern) => pattern.test(sql)))
      expect({ sql, scans, sorts }, plan.join('\n')).toEqual({ sql, scans: [], sorts: [] })
    }
  })
})

// By its run, SQLite would read all steps of the run for each page of its events.
test('rows that are asked for by their ids are each found by its id', async () => {
  const seen = new Set<string>()
  const store = await migratedStore(recording(sqlite(':memory:'), seen))
  seen.clear()
  await store.steps.find('id', ['a', 'b'])
  await store.logs.find('id', ['a', 'b'])
  await store.events.heads(['a', 'b'])
  expect(seen.size).toBe(3)
  for (const sql of seen)
    expect(await explain(store, sql), sql).toEqual([
      expect.stringMatching(/^SCAN wanted VIRTUAL TABLE/),
      expect.stringMatching(/^SEARCH [slr] .*\bid=\?\)/),
    ])
})

test('the running runs are read once for all workers', async () => {
  const seen = new Set<string>()
  const store = await migratedStore(recording(sqlite(':memory:'), seen))
  seen.clear()
  await store.cluster.workers()
  const [sql = ''] = seen
  const plan = await explain(store, sql)
  const read = plan.indexOf('SCAN r USING INDEX runs_lease_end')
  expect(plan[read - 1], plan.join('\n')).toBe('MATERIALIZE busy')
  expect(plan.filter((line) => line.includes('runs_lease_end'))).toHaveLength(1)
})

// By the index of all runs of a key, SQLite would read its whole history for each candidate of a claim.
test.each(['an empty database', 'a database with statistics'])(
  'in %s the run that has a key is found by the index of keys in use',
  async (what) => {
    const seen = new Set<string>()
    const store = await migratedStore(recording(sqlite(':memory:'), seen))
    if (what !== 'an empty database') await fill(store)
    seen.clear()
    await store.runs.getHolder('k')
    await store.runs.claim({ jobNames: ['job'], tokens: ['a', 'b'], leaseMs: 1000 })
    await store.cluster?.findUnassigned({ jobNames: ['job'], limit: 5 })
    const plans = await Promise.all(Array.from(seen, (sql) => explain(store, sql)))
    const searches = plans.flat().filter((line) => /^SEARCH k /.test(line) && !line.includes('runs_assigned_key'))
    expect(searches).toEqual(Array.from({ length: 3 }, () => expect.stringContaining('USING INDEX runs_running_key (concurrency_key=?)')))
  },
)

test.each([[['a']], [['a', 'b']]])(
  'a claim under %j reads no row of a run whose key is taken, only its entry in the index',
  async (tokens) => {
    const seen = new Set<string>()
    const store = await migratedStore(recording(sqlite(':memory:'), seen))
    await fill(store)
    seen.clear()
    await store.runs.claim({ jobNames: ['job'], tokens, leaseMs: 1000 })
    const plans = await Promise.all(Array.from(seen, (sql) => explain(store, sql)))
    expect(plans.flat().filter((line) => /^SEARCH p /.test(line))).toEqual([expect.stringMatching(/USING COVERING INDEX runs_pick/)])
  },
)

test.each([1, 5])(
  'a claim of %i reads as little of 100,000 pending runs as of a hundred',
  async (wanted) => {
    const store = await migratedStore(sqlite(':memory:'))
    const small = await claimMs(store, 100, wanted)
    const large = await claimMs(store, 100_000, wanted)
    // A scan of the backlog would be hundreds of times slower.
    expect(large).toBeLessThan(Math.max(small * 10, 5))
  },
  120_000,
)

test('a claim and a probe read as little among 50,000 sleeping runs as among none', async () => {
  const store = await migratedStore(sqlite(':memory:'))
  const alone = await claimMs(store, 100, 1)
  const probeAlone = await medianMs(9, () => store.runs.probe(['job', 'other']))
  for (let i = 0; i < 50; i++) await store.runs.create(Array.from({ length: 1000 }, () => newRun({ delayMs: 3_600_000 })))
  expect(await claimMs(store, 100, 1)).toBeLessThan(Math.max(alone * 10, 5))
  expect(await medianMs(9, () => store.runs.probe(['job', 'other']))).toBeLessThan(Math.max(probeAlone * 10, 5))
}, 120_000)

// SQLite looks at a bare parameter after LIMIT when it plans, and so plans anew whenever that is bound: a claim took 30 times as long.
test('no statement has to be prepared again for its parameters', async () => {
  const seen = new Set<string>()
  const store = await migratedStore(recording(sqlite(':memory:'), seen))
  await everyVerb(store)
  const limited = Array.from(seen).filter((sql) => sql.includes('LIMIT'))
  expect(limited.length).toBeGreaterThan(5)
  expect(limited.filter((sql) => /LIMIT\s*\(*\?/.test(sql))).toEqual([])
})

async function medianMs(times: number, act: (i: number) => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) {
    const began = performance.now()
    await act(i)
    all.push(performance.now() - began)
  }
  return all.sort((a, b) => a - b)[times >> 1] ?? 0
}

async function claimMs(store: SqlStore, backlog: number, wanted: number): Promise<number> {
  for (let left = backlog; left > 0; left -= 1000) await store.runs.create(Array.from({ length: Math.min(left, 1000) }, () => newRun()))
  return medianMs(9, () =>
    store.runs.claim({
      jobNames: ['other', 'job', 'third'],
      tokens: Array.from({ length: wanted }, () => realEnv.id()),
      leaseMs: 1000,
    }),
  )
}

async function everyVerb({ runs, steps, events, logs, signals, archive, cluster }: SqlStore): Promise<void> {
  const store = { runs } as SqlStore
  const claim = await claimed(store, { jobName: 'watched', labels: '{"tenant":"many"}' })
  const line = { id: 'line', runId: claim.runId, stepName: null, level: 'info' as const, message: '', data: null, timestamp: '' }
  const riders = {
    events: [{ type: 'step:start' as const, payload: {}, createdAt: '' }],
    logs: [line],
    progress: null,
    streams: '[]',
    effects: '[]',
  }
  const first = recordStep(claim, 1)
  await runs.apply([{ ...first, ...riders, verb: { ...first.verb, endsStream: true } as OwnerWrite['verb'] }])
  await runs.apply([{ ...recordStep(claim, 2, { status: 'failed' }), ...riders }])
  for (const number of [3, 3]) await runs.apply([{ claim, number, ...riders, verb: { type: 'heartbeat', leaseMs: 1000 } }])
  await runs.apply([{ claim, number: 4, ...riders, verb: { type: 'fail', error: '', failure: '{}', reason: 'error', failedStepName: '' } }])
  await runs.retry(claim.runId)
  const again = { ...(await claimed(store, { jobName: 'watched', parentRunId: claim.runId })), parentRunId: claim.runId }
  const waits = { runAt: 0, waitingFor: '[]', signals: 0, error: '', failure: '{}', attempt: 1 }
  await runs.apply([{ claim: again, number: 1, ...riders, verb: { type: 'retryLater', ...waits } }])
  await runs.apply([{ claim: again, number: 2, ...riders, verb: { type: 'park', ...waits } }])
  await runs.apply([{ claim: again, number: 3, ...riders, verb: { type: 'complete', output: null } }])
  await signals.send({ id: 'signal', runId: claim.runId, name: 'answer', value: null, createdAt: '' })
  await signals.list(claim.runId)
  await runs.purge({ statuses: ['completed'], olderThanMs: 0, limit: 10 })
  await runs.purge({ statuses: ['completed'], olderThanMs: 0, limit: 10, jobNames: ['job'] })
  await archive.candidates({ after: '', before: '~', limit: 100 })
  await archive.begin(['run'], 0)
  await archive.move({ runId: 'run', version: 1, logRef: '', nextRef: '1-2-a', firstSeq: 1, lastSeq: 2, lineIds: ['line'] })
  await archive.removed(100)
  await archive.forget(['run'])
  const when = { cron: null, everyMs: 60_000, timezone: 'UTC', misfire: 'once', misfireMax: 100, overlap: 'allow', jitterMs: 0 } as const
  const scheduled = { jobName: 'watched', payload: null, concurrencyKey: null, labels: null }
  await cluster.putSchedule({ id: 'nightly', ...when, ...scheduled, version: null, nextAt: 1 })
  await cluster.putSchedule({ id: 'nightly', ...when, ...scheduled, version: 0, nextAt: 2 })
  await cluster.switchSchedule({ id: 'nightly', version: 1, paused: false, nextAt: 1 })
  for (const query of [{ due: true }, { after: 'a' }, { id: 'nightly' }]) await cluster.findSchedules({ ...query, limit: 20 })
  const ofSlot = { id: 'of slot', ...scheduled, createdAt: '', runAt: 1, scheduledFor: 1 }
  await cluster.fireSchedule({ epoch: 1, scheduleId: 'nightly', version: 2, runs: [ofSlot], lastScheduledFor: 1, nextAt: 2 })
  await cluster.triggerSchedule({ scheduleId: 'nightly', version: 2, run: { ...ofSlot, id: 'by hand', scheduledFor: null } })
  await cluster.deleteSchedule('nightly', 2)
  await cluster.leader()
  await cluster.putEvent({ id: 'event', name: 'a', data: '1', dedupeKey: 'k' })
  await cluster.findEvents({ limit: 20 })
  const run = { id: 'of event', jobName: 'watched', idempotencyKey: 'event:event', createdAt: '' }
  await cluster.deliverEvent({ epoch: 1, eventId: 'event', runs: [run] })
  await cluster.forgetEvents(100)
  await cluster.findDefinitions({ names: ['watched'], after: '', limit: 20 })
  await cluster.putDefinitions([{ name: 'watched', input: null, subscriptions: null }])
  await cluster.deleteDefinition('watched')
  await cluster.lead({ token: 'token', workerId: 'worker', leaseMs: 1000 })
  await cluster.attend({ id: 'worker', token: 'token', labels: '{}', capacity: 1, jobNames: '["job"]', version: null, lastsMs: 1000 })
  await cluster.workers()
  await cluster.findUnassigned({ jobNames: ['watched', 'job'], limit: 20 })
  await cluster.assign({ epoch: 1, assignments: [{ runId: claim.runId, version: 1, workerId: 'worker' }] })
  await cluster.claimAssigned({ jobNames: ['job'], tokens: ['assigned'], leaseMs: 1000, workerId: 'worker' })
  await cluster.claimOpen({ jobNames: ['job'], tokens: ['open'], leaseMs: 1000, workerId: 'worker', preferMs: 2000 })
  await cluster.orphan({ epoch: 1, reassignAfterMs: 1000 })
  await cluster.switchWorker('worker', 'draining')
  await cluster.leave({ id: 'worker', token: 'token' })
  await audited(store, signals, cluster, claim.runId)
  await runs.cancel(claim.runId)
  await runs.delete(claim.runId)
  await runs.reap({ maxRecoveries: 3 })
  await runs.wasAlive(claim)
  await runs.probe(['watched', 'job'])
  await runs.oldestDue(['watched', 'job'])
  await runs.dueJobs({ waitedMs: 5000, except: ['job'], limit: 20 })
  await runs.adopt(['token'])
  await steps.find('id', ['a', 'b'])
  await logs.find('id', ['a', 'b'])
  await events.heads(['a', 'b'])
  await runs.get('id')
  await runs.getChild('id', 'step')
  await runs.getHolder('key')
  await runs.list({ limit: 20 })
  for (const query of QUERIES) await runs.list(query)
  await runs.held()
  for (const page of [{}, { after: 'step', limit: 10 }]) {
    await steps.list('id', page)
    await steps.listOwned(claim, page)
  }
  await events.list('id', { after: 3, limit: 10 })
  await logs.list('id', { after: 'line', limit: 10 })
  await logs.append([line])
}

/** Every verb that may be recorded, and every way to read what was. */
async function audited(
  { runs }: SqlStore,
  signals: SqlStore['signals'],
  cluster: NonNullable<SqlStore['cluster']>,
  id: string,
): Promise<void> {
  const entry = { id: 'entry', actor: 'ada', action: 'run:cancel', targetKind: 'run', targetId: id, detail: null } as const
  const options = { audit: entry }
  await runs.retry(id, options)
  await runs.cancel(id, options)
  await runs.delete(id, options)
  await signals.send({ id: 'recorded', runId: id, name: 'recorded', value: null, createdAt: '' }, options)
  await cluster.deleteSchedule('nightly', 1, options)
  await cluster.switchSchedule({ id: 'nightly', version: 1, paused: true, nextAt: 1 }, options)
  await cluster.switchWorker('worker', 'draining', options)
  await cluster.writeSettings({ value: {}, version: 0, updatedBy: null }, options)
  await cluster.lead({ token: 'token', workerId: 'worker', leaseMs: 1000 })
  const after = { createdAt: 5, id: 'a' }
  const times = { from: 1, before: 9 }
  for (const query of [
    {},
    { target: { kind: 'run', id } },
    { actor: 'ada' },
    { action: 'run:cancel' },
    { actor: 'ada', action: 'run:cancel' },
  ] as const)
    for (const place of [{}, times, { after }, { ...times, after }]) await cluster.findAudit({ ...query, ...place, limit: 20 })
}

async function fill(store: SqlStore, runs = 6000): Promise<void> {
  await store.runs.create(
    Array.from({ length: runs }, (_, i) =>
      newRun({
        concurrencyKey: i % 3 ? `key ${i % 50}` : null,
        labels: i % 2 ? JSON.stringify({ tenant: `tenant ${i % 9}`, kind: 'many' }) : null,
      }),
    ),
  )
  await store.db.executeQuery(CompiledQuery.raw(`UPDATE runs SET status = 'completed', finished_at = 1 WHERE rowid % 2`))
  await store.db.executeQuery(CompiledQuery.raw('ANALYZE'))
}

async function explain({ db }: SqlStore, sql: string): Promise<string[]> {
  const holes = sql.match(/\?/g)?.map(() => null) ?? []
  const { rows } = await db.executeQuery(CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, holes))
  return (rows as { detail: string }[]).map(({ detail }) => detail)
}

function recording(dialect: Dialect, seen: Set<string>): Dialect {
  return answering(dialect, ({ sql }) => {
    if (!/^(begin|commit|rollback|EXPLAIN|PRAGMA)/i.test(sql)) seen.add(sql)
    return undefined
  })
}
