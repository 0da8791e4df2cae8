// The raw limit on Postgres: the same rows in bare tables, by prepared statements of `pg`.
//   - a step: one statement that updates the run and inserts the step
//   - a drain at its best: 500 are claimed by one statement and ended by another, on two connections
import pg from 'pg'
import { median } from '../../summary.ts'
import type { Contender } from '../contender.ts'
import { onPostgres, type Place } from '../place.ts'
import { Tally } from '../tally.ts'
import { type Figure, rate, type Workload } from '../workload.ts'

const TABLES = `
  CREATE TABLE runs (id text PRIMARY KEY, job_name text NOT NULL, payload text, status text NOT NULL, output text,
    lease_owner text, lease_expires_at bigint, current_step_index integer NOT NULL DEFAULT 0, created_at text NOT NULL, updated_at text NOT NULL);
  CREATE INDEX runs_pending ON runs (id) WHERE status = 'pending';
  CREATE TABLE steps (run_id text NOT NULL, name text NOT NULL, index integer NOT NULL, output text, started_at text NOT NULL,
    completed_at text NOT NULL, PRIMARY KEY (run_id, name));`

const BATCH = 500
const BATCH_CONNECTIONS = 2
const TIME = '2026-01-01T00:00:00.000Z'

const CREATE = `INSERT INTO runs (id, job_name, payload, status, created_at, updated_at) VALUES ($1, 'job', $2, 'pending', $3, $3)`
const CREATE_MANY = `INSERT INTO runs (id, job_name, payload, status, created_at, updated_at)
  SELECT id, 'job', $2, 'pending', $3, $3 FROM unnest($1::text[]) AS id`
const CLAIM = `UPDATE runs SET status = 'running', lease_owner = $2, lease_expires_at = $3, updated_at = $4
  WHERE id IN (SELECT id FROM runs WHERE status = 'pending' ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id`
const STEP = `WITH run AS (UPDATE runs SET current_step_index = $3, lease_expires_at = $5, updated_at = $6 WHERE id = $1 AND status = 'running' RETURNING id)
  INSERT INTO steps (run_id, name, index, output, started_at, completed_at) SELECT id, $2, $3, $4, $6, $6 FROM run`
const END = `UPDATE runs SET status = 'completed', lease_owner = NULL, output = 'null', updated_at = $2 WHERE id = ANY($1::text[])`

class RawStore {
  readonly #pool: pg.Pool
  #created = 0

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  static async open(place: Place, connections: number): Promise<RawStore> {
    const pool = new pg.Pool({ connectionString: onPostgres(place).url, max: connections })
    await pool.query(TABLES)
    return new RawStore(pool)
  }

  #query(name: string, text: string, values: unknown[]): Promise<pg.QueryResult<{ id: string }>> {
    return this.#pool.query({ name, text, values })
  }

  #nextId = () => String(this.#created++).padStart(26, '0')

  create(): Promise<unknown> {
    return this.#query('create', CREATE, [this.#nextId(), '{"i":1}', TIME])
  }

  createMany(count: number): Promise<unknown> {
    return this.#query('create many', CREATE_MANY, [Array.from({ length: count }, this.#nextId), '{"i":1}', TIME])
  }

  async claim(limit: number): Promise<string[]> {
    const { rows } = await this.#query('claim', CLAIM, [limit, 'owner', Date.now(), TIME])
    return rows.map(({ id }) => id)
  }

  recordStep(runId: string, index: number): Promise<unknown> {
    return this.#query('step', STEP, [runId, `step ${index}`, index, `${index}`, Date.now(), TIME])
  }

  end(ids: string[]): Promise<unknown> {
    return this.#query('end', END, [ids, TIME])
  }
}

async function runs(place: Place, { runs, steps, concurrency, capMs }: Extract<Workload, { kind: 'runs' }>): Promise<Figure> {
  const connections = concurrency === 'best' ? BATCH_CONNECTIONS : concurrency
  const store = await RawStore.open(place, connections)
  await store.createMany(runs)
  const tally = new Tally(runs * Math.max(1, steps), capMs)
  await Promise.all(Array.from({ length: connections }, () => (steps > 0 ? drainSteps(store, steps, tally) : drain(store, tally))))
  return tally.figure()
}

async function drainSteps(store: RawStore, steps: number, tally: Tally): Promise<void> {
  for (let [id] = await store.claim(1); id && !tally.capped; [id] = await store.claim(1)) {
    for (let i = 0; i < steps && !tally.capped; i++) {
      await store.recordStep(id, i)
      tally.tick()
    }
    await store.end([id])
  }
}

async function drain(store: RawStore, tally: Tally): Promise<void> {
  for (let ids = await store.claim(BATCH); ids.length > 0 && !tally.capped; ids = await store.claim(BATCH)) {
    for (const _ of ids) tally.tick()
    await store.end(ids)
  }
}

async function enqueue(place: Place, { runs, inFlight, capMs }: Extract<Workload, { kind: 'enqueue' }>): Promise<Figure> {
  const store = await RawStore.open(place, inFlight)
  const tally = new Tally(runs, capMs)
  let next = 0
  const caller = async () => {
    for (; next < runs && !tally.capped; tally.tick()) {
      next += 1
      await store.create()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, caller))
  return tally.figure()
}

async function bulk(place: Place, count: number): Promise<Figure> {
  const store = await RawStore.open(place, 1)
  await store.createMany(Math.floor(count / 10))
  const began = performance.now()
  await store.createMany(count)
  return rate(count, performance.now() - began)
}

/** A run is created and announced on one connection; another one hears of it, and a third claims it. */
async function latency(place: Place, samples: number): Promise<Figure> {
  const store = await RawStore.open(place, 2)
  const { url } = onPostgres(place)
  const [sender, listener] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([sender.connect(), listener.connect()])
  await listener.query('LISTEN bench')
  let claimed = () => {}
  listener.on('notification', () => void store.claim(1).then(() => claimed()))
  const latencies: number[] = []
  while (latencies.length <= samples) {
    const done = new Promise<void>((resolve) => {
      claimed = resolve
    })
    const began = performance.now()
    await store.create()
    await sender.query('NOTIFY bench')
    await done
    latencies.push(performance.now() - began)
  }
  return { value: median(latencies.slice(1)), unit: 'ms', of: samples }
}

export const rawPostgres: Contender = {
  title: 'raw',
  peers: [],
  differs: '`pg` with named statements; no event rows, no notifications; as many connections as runs at once, two for a drain',
  measure(workload, place) {
    switch (workload.kind) {
      case 'runs':
        return runs(place, workload)
      case 'enqueue':
        return enqueue(place, workload)
      case 'bulk':
        return bulk(place, workload.runs)
      case 'latency':
        return latency(place, workload.samples)
      case 'tasks':
        throw new Error('Postgres is no queue in memory')
    }
  },
}
