// The rows of the table: what is measured, where, and who takes part. Sizes are for a full run; a quick one takes a part of them.
import type { ContenderId } from './contenders.ts'
import type { PlaceKind } from './place.ts'
import type { Workload } from './workload.ts'

export interface Entry {
  /** Unique in its row. */
  key: string
  contender: ContenderId
  /** So many ended runs are there before. */
  finished?: number
  /** The key of the entry that it is compared with; by default the row's first. */
  against?: string
}

export interface Row {
  id: string
  title: string
  place: PlaceKind
  workload: Workload
  /** The first is the reference: the raw limit, where there is one. */
  entries: readonly Entry[]
}

const CAP_MS = 5000

function runs(count: number, steps: number, concurrency: number | 'best'): Workload {
  return { kind: 'runs', runs: count, steps, concurrency, capMs: CAP_MS }
}

function entries(...contenders: ContenderId[]): Entry[] {
  return contenders.map((contender) => ({ key: contender, contender }))
}

/** Each beside its own empty store. */
function besideFinished(finished: number): Entry[] {
  return (['durably', 'durablyWithoutEvents'] as const).flatMap((contender) => [
    { key: `${contender}-empty`, contender },
    { key: contender, contender, finished, against: `${contender}-empty` },
  ])
}

const OURS = ['durably', 'durablyWithoutEvents'] as const
const ON_SQLITE = ['rawNodeSqlite', ...OURS] as const
const ON_POSTGRES = ['rawPostgres', ...OURS] as const

export const ROWS: readonly Row[] = [
  {
    id: 'sqlite-steps',
    title: 'SQLite NORMAL, 1 run × 3,000 steps',
    place: 'sqlite-normal',
    workload: runs(1, 3000, 1),
    entries: entries(...ON_SQLITE, 'durably015'),
  },
  {
    id: 'sqlite-steps-full',
    title: 'SQLite FULL, 1 run × 3,000 steps',
    place: 'sqlite-full',
    workload: runs(1, 3000, 1),
    entries: entries(...ON_SQLITE, 'durably015', 'openworkflowSqlite'),
  },
  {
    id: 'sqlite-steps-c10',
    title: 'SQLite NORMAL, 1,000 runs × 10 steps, 10 at once',
    place: 'sqlite-normal',
    workload: runs(1000, 10, 10),
    entries: entries(...ON_SQLITE, 'durably015'),
  },
  {
    id: 'sqlite-steps-c10-full',
    title: 'SQLite FULL, 1,000 runs × 10 steps, 10 at once',
    place: 'sqlite-full',
    workload: runs(1000, 10, 10),
    entries: entries(...ON_SQLITE, 'durably015', 'openworkflowSqlite'),
  },
  {
    id: 'sqlite-drain',
    title: 'SQLite NORMAL, drain of 10,000 runs, best',
    place: 'sqlite-normal',
    workload: runs(10_000, 0, 'best'),
    entries: entries(...ON_SQLITE, 'plainjob', 'durably015'),
  },
  {
    id: 'sqlite-drain-c1',
    title: 'SQLite NORMAL, drain of 5,000 runs, one at a time',
    place: 'sqlite-normal',
    workload: runs(5000, 0, 1),
    entries: entries(...ON_SQLITE, 'plainjob', 'durably015'),
  },
  {
    id: 'sqlite-enqueue',
    title: 'SQLite NORMAL, create 5,000 runs one by one',
    place: 'sqlite-normal',
    workload: { kind: 'enqueue', runs: 5000, inFlight: 1, capMs: CAP_MS },
    entries: entries(...ON_SQLITE, 'plainjob', 'durably015'),
  },
  {
    id: 'sqlite-bulk',
    title: 'SQLite NORMAL, create 10,000 runs by one call',
    place: 'sqlite-normal',
    workload: { kind: 'bulk', runs: 10_000 },
    entries: entries(...ON_SQLITE, 'plainjob', 'durably015'),
  },
  {
    id: 'sqlite-own-dialect',
    title: 'SQLite NORMAL, 1 run × 3,000 steps, a dialect that the user brings',
    place: 'sqlite-normal',
    workload: runs(1, 3000, 1),
    entries: entries('rawBetterSqlite', 'durably', 'durablyOnBetterSqlite', 'durablyOnLibsql'),
  },
  {
    id: 'sqlite-latency',
    title: 'SQLite NORMAL, latency of an idle worker',
    place: 'sqlite-normal',
    workload: { kind: 'latency', samples: 100, capMs: CAP_MS },
    entries: entries(...ON_SQLITE, 'plainjob', 'durably015'),
  },
  {
    id: 'sqlite-drain-beside',
    title: 'SQLite NORMAL, drain of 10,000 runs beside 1,000,000 ended ones, best',
    place: 'sqlite-normal',
    workload: runs(10_000, 0, 'best'),
    entries: besideFinished(1_000_000),
  },
  {
    id: 'pg-steps',
    title: 'Postgres, 1 run × 1,000 steps',
    place: 'postgres',
    workload: runs(1, 1000, 1),
    entries: entries(...ON_POSTGRES, 'openworkflowPostgres', 'dbos', 'absurd', 'durably015'),
  },
  {
    id: 'pg-steps-c10',
    title: 'Postgres, 500 runs × 10 steps, 10 at once',
    place: 'postgres',
    workload: runs(500, 10, 10),
    entries: entries(...ON_POSTGRES, 'openworkflowPostgres', 'dbos', 'absurd', 'durably015'),
  },
  {
    id: 'pg-drain',
    title: 'Postgres, drain of 10,000 runs, best',
    place: 'postgres',
    workload: runs(10_000, 0, 'best'),
    entries: entries(...ON_POSTGRES, 'graphileWorker', 'pgBoss', 'dbos', 'absurd', 'openworkflowPostgres', 'bullmqPostgres', 'bullmqRedis'),
  },
  {
    id: 'pg-enqueue',
    title: 'Postgres, create 5,000 runs, 10 in flight',
    place: 'postgres',
    workload: { kind: 'enqueue', runs: 5000, inFlight: 10, capMs: CAP_MS },
    entries: entries(...ON_POSTGRES, 'openworkflowPostgres', 'dbos', 'absurd', 'graphileWorker', 'pgBoss', 'bullmqPostgres', 'bullmqRedis'),
  },
  {
    id: 'pg-drain-beside',
    title: 'Postgres, drain of 10,000 runs beside 200,000 ended ones, analysed, best',
    place: 'postgres',
    workload: runs(10_000, 0, 'best'),
    entries: besideFinished(200_000),
  },
  {
    id: 'pg-latency',
    title: 'Postgres, latency of an idle worker',
    place: 'postgres',
    workload: { kind: 'latency', samples: 100, capMs: CAP_MS },
    entries: entries(...ON_POSTGRES, 'graphileWorker', 'pgBoss', 'openworkflowPostgres', 'absurd', 'dbos', 'bullmqPostgres', 'bullmqRedis'),
  },
  ...[1, 10].map(
    (concurrency): Row => ({
      id: `memory-c${concurrency}`,
      title: `memory, 100,000 tasks that do nothing, ${concurrency === 1 ? 'one' : concurrency} at a time`,
      place: 'memory',
      workload: { kind: 'tasks', tasks: 100_000, concurrency },
      entries: entries('pQueue', 'durablyTasks', 'fastqPromise'),
    }),
  ),
]
