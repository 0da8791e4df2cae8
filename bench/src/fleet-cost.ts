// What a fleet of worker processes costs one Postgres. It counts transactions, log, rows and bytes, which do not depend on how busy the
// machine is. docs/guides/scale.md has the arithmetic. `npm run bench -- fleet-cost [workers]`
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createDurably } from '../../packages/durably/dist/index.js'
import { postgres } from '../../packages/durably/dist/postgres/index.js'
import { startPostgres } from '../../proof/dist/postgres/server.js'
import { anything } from './anything.ts'

const WORKERS = 10
const IDLE_S = 30
const RUNS = 1000
const STEPS = 3
const LOOK_MS = 250
/** Postgres adds up what a connection has done at most once a second. */
const STATISTICS_MS = 2000

const COUNTS = `SELECT xact_commit::float AS commits, tup_inserted::float AS inserted, tup_updated::float AS updated,
  pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float AS wal,
  (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace) AS bytes
  FROM pg_stat_database WHERE datname = current_database()`
type Counts = Record<'commits' | 'inserted' | 'updated' | 'wal' | 'bytes', number>

function engine(url: string) {
  const durably = createDurably({ dialect: postgres(url), concurrency: 10 })
  const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
    for (let i = 0; i < STEPS; i++) await ctx.run(`step ${i}`, () => i)
  })
  return { durably, job }
}

async function measure(size: number): Promise<void> {
  const server = await startPostgres({ own: true, settings: { autovacuum: 'off' } })
  const { durably, job } = engine(server.url)
  await durably.migrate()
  const client = new pg.Client(server.url)
  await client.connect()
  const counts = async () => (await client.query<Counts>(COUNTS)).rows[0] as Counts
  const workers = await Promise.all(Array.from({ length: size }, () => startWorker(server.url)))
  await sleep(STATISTICS_MS)
  const idle = await difference(counts, () => sleep(IDLE_S * 1000))
  const {
    rows: [open],
  } = await client.query<{ count: number }>(
    'SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  console.log(`${size} idle workers: ${open?.count} connections, ${per(idle.commits, size * IDLE_S)} transactions a second and worker`)
  const busy = await difference(counts, async () => {
    await job.batchTrigger(Array.from({ length: RUNS }, (_, i) => ({ payload: { i } })))
    while ((await durably.getRuns({ phase: ['pending', 'running'], limit: 1 })).length > 0) await sleep(LOOK_MS)
  })
  console.log(
    `${RUNS} runs of ${STEPS} steps, per run: ${per(busy.commits, RUNS)} transactions (looks included), ${per(busy.wal, RUNS)} bytes of log, ${per(busy.inserted, RUNS)} rows inserted, ${per(busy.updated, RUNS)} updated, ${per(busy.bytes, RUNS)} bytes on disk before a vacuum`,
  )
  for (const worker of workers) worker.kill()
  await client.end()
  await durably[Symbol.asyncDispose]()
  await server.stop()
}

async function difference(counts: () => Promise<Counts>, work: () => Promise<unknown>): Promise<Counts> {
  const before = await counts()
  await work()
  await sleep(STATISTICS_MS)
  const after = await counts()
  const difference = { ...after }
  for (const name of Object.keys(before) as (keyof Counts)[]) difference[name] = after[name] - before[name]
  return difference
}

function per(amount: number, count: number): string {
  return (amount / count).toPrecision(3)
}

async function startWorker(url: string): Promise<ChildProcess> {
  const worker = fork(fileURLToPath(import.meta.url), ['--work', url], { execArgv: ['--no-warnings'] })
  await once(worker, 'message')
  return worker
}

const [first = `${WORKERS}`, url = ''] = process.argv.slice(2)
if (first === '--work') {
  process.on('disconnect', () => process.exit())
  engine(url).durably.start()
  process.send?.('ready')
} else await measure(Number(first))
