// The raw limit on SQLite: the same rows in bare tables, by prepared statements, with nothing around them.
//   - a step: one transaction that inserts the step and updates its run
//   - a drain one by one: one transaction that ends a run and claims the next
//   - a drain at its best: a hundred are claimed by one transaction and ended by another
import { loadSqlite } from '../../../../packages/durably/dist/sqlite/database-sync.js'
import type { Contender } from '../contender.ts'
import { loadPeer } from '../peers.ts'
import { onSqlite } from '../place.ts'
import { Tally } from '../tally.ts'
import { type Figure, rate, type Workload } from '../workload.ts'
import { type Database, openRawStore, type RawStore } from './raw-sqlite-store.ts'

type OpenDatabase = (file: string) => Promise<Database>

const BATCH = 100

function runs(store: RawStore, { runs, steps, concurrency, capMs }: Extract<Workload, { kind: 'runs' }>): Figure {
  const tally = new Tally(runs * Math.max(1, steps), capMs)
  store.inTransaction(() => {
    for (let i = 0; i < runs; i++) store.create()
  })
  if (steps > 0) drainSteps(store, steps, tally)
  else if (concurrency === 1) drainOneByOne(store, tally)
  else drainInBatches(store, tally)
  return tally.figure()
}

function drainSteps(store: RawStore, steps: number, tally: Tally): void {
  for (;;) {
    const [id] = store.inTransaction(() => store.claim(1))
    if (!id || tally.capped) return
    for (let i = 0; i < steps && !tally.capped; i++) {
      store.inTransaction(() => store.recordStep(id, i))
      tally.tick()
    }
    store.inTransaction(() => store.end(id))
  }
}

function drainOneByOne(store: RawStore, tally: Tally): void {
  let [id] = store.inTransaction(() => store.claim(1))
  while (id && !tally.capped) {
    const ended: string = id
    tally.tick()
    ;[id] = store.inTransaction(() => {
      store.end(ended)
      return store.claim(1)
    })
  }
}

function drainInBatches(store: RawStore, tally: Tally): void {
  for (;;) {
    const ids = store.inTransaction(() => store.claim(BATCH))
    if (ids.length === 0 || tally.capped) return
    for (const _ of ids) tally.tick()
    store.inTransaction(() => {
      for (const id of ids) store.end(id)
    })
  }
}

function enqueue(store: RawStore, { runs, capMs }: Extract<Workload, { kind: 'enqueue' }>): Figure {
  const tally = new Tally(runs, capMs)
  for (let i = 0; i < runs && !tally.capped; i++) {
    store.create()
    tally.tick()
  }
  return tally.figure()
}

function bulk(store: RawStore, count: number): Figure {
  const create = (count: number) =>
    store.inTransaction(() => {
      for (let i = 0; i < count; i++) store.create()
    })
  create(Math.floor(count / 10))
  const began = performance.now()
  create(count)
  return rate(count, performance.now() - began)
}

function latency(store: RawStore, samples: number): Figure {
  const tally = new Tally(samples, Number.POSITIVE_INFINITY)
  for (let i = 0; i < samples; i++) {
    store.create()
    store.claim(1)
    tally.tick()
  }
  return { value: 1000 / tally.figure().value, unit: 'ms', of: samples }
}

function rawSqlite(about: Omit<Contender, 'measure'>, open: OpenDatabase): Contender {
  return {
    ...about,
    async measure(workload, place) {
      const { file, synchronous } = onSqlite(place)
      const store = openRawStore(await open(file), synchronous)
      switch (workload.kind) {
        case 'runs':
          return runs(store, workload)
        case 'enqueue':
          return enqueue(store, workload)
        case 'bulk':
          return bulk(store, workload.runs)
        case 'latency':
          return latency(store, workload.samples)
        case 'tasks':
          throw new Error('SQLite is no queue in memory')
      }
    },
  }
}

export const rawNodeSqlite = rawSqlite(
  { title: 'raw', peers: [], differs: 'the driver of `sqlite()`: node:sqlite, on Node 20 @photostructure/sqlite; no event rows, no fence' },
  async (file) => new (await loadSqlite()).DatabaseSync(file),
)
export const rawBetterSqlite = rawSqlite(
  { title: 'raw, better-sqlite3', peers: ['better-sqlite3'], differs: 'the same statements through better-sqlite3' },
  async (file) => new (await loadPeer<{ default: new (file: string) => Database }>('better-sqlite3')).default(file),
)
