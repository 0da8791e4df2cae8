import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import type { Place } from '../place.ts'

type Database = new (file: string) => { pragma(text: string): unknown }

interface Kysely {
  SqliteDialect: new (config: { database: unknown }) => unknown
  PostgresDialect: new (config: { pool: unknown }) => unknown
}

interface Job {
  trigger(input: unknown): Promise<unknown>
  batchTrigger(inputs: { input: unknown }[]): Promise<unknown>
}

interface Durably015 {
  defineJob(job: {
    name: string
    input: unknown
    run(step: { run(name: string, work: () => Promise<unknown>): Promise<unknown> }): Promise<void>
  }): unknown
  createDurably(options: { dialect: unknown; maxConcurrentRuns: number; jobs: { job: unknown } }): {
    jobs: { job: Job }
    migrate(): Promise<void>
    start(): void
    getRuns(filter: { status: string }): Promise<unknown[]>
  }
}

async function dialectFor(place: Place): Promise<unknown> {
  const { SqliteDialect, PostgresDialect } = await loadPeer<Kysely>('kysely')
  if (place.kind === 'postgres') {
    const { default: pg } = await loadPeer<{ default: { Pool: new (config: object) => unknown } }>('pg')
    return new PostgresDialect({ pool: new pg.Pool({ connectionString: place.url, max: 20 }) })
  }
  if (place.kind !== 'sqlite') throw new Error(`@coji/durably 0.15 does not run on ${place.kind}`)
  const { default: Database } = await loadPeer<{ default: Database }>('better-sqlite3')
  const database = new Database(place.file)
  database.pragma('journal_mode = WAL')
  database.pragma(`synchronous = ${place.synchronous}`)
  return new SqliteDialect({ database })
}

export const durably015 = engineContender({
  title: '@coji/durably 0.15',
  peers: ['@coji/durably', 'better-sqlite3'],
  differs:
    'the published predecessor, on better-sqlite3 with pragmas set by the bench, or a `pg` pool of 20; it polls every second and stores no event log. Best: 10 runs at once, on Postgres 20',
  pollMs: 1000,
  share: 0.1,
  async open(place, { steps, concurrency, tick }) {
    const { createDurably, defineJob } = await loadPeer<Durably015>('@coji/durably')
    const { z } = await loadPeer<{ z: { object(shape: object): unknown; number(): unknown } }>('zod')
    const job = defineJob({
      name: 'job',
      input: z.object({ i: z.number() }),
      async run(step) {
        if (steps === 0) tick()
        for (let i = 0; i < steps; i++) {
          await step.run(`step ${i}`, async () => {
            tick()
            return i
          })
        }
      },
    })
    const best = place.kind === 'postgres' ? 20 : 10
    const maxConcurrentRuns = concurrency === 'best' ? best : concurrency
    const durably = createDurably({ dialect: await dialectFor(place), maxConcurrentRuns, jobs: { job } })
    await durably.migrate()
    const statuses = ['pending', 'leased']
    return {
      enqueue: (i) => durably.jobs.job.trigger({ i }),
      enqueueMany: (count) => durably.jobs.job.batchTrigger(Array.from({ length: count }, (_, i) => ({ input: { i } }))),
      start: () => durably.start(),
      async unfinished() {
        const found = await Promise.all(statuses.map((status) => durably.getRuns({ status })))
        return found.reduce((sum, runs) => sum + runs.length, 0)
      },
    }
  },
})
