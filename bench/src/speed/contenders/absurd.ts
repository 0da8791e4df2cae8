import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { engineContender } from '../engine-contender.ts'
import { loadPeer, PEERS } from '../peers.ts'
import { onPostgres } from '../place.ts'

interface Pool {
  query(sql: string): Promise<{ rows: { count: string }[] }>
}

interface AbsurdSdk {
  Absurd: new (options: {
    db: Pool
    queueName: string
  }) => {
    createQueue(): Promise<void>
    registerTask(
      options: { name: string },
      work: (params: unknown, ctx: { step(name: string, work: () => Promise<unknown>): Promise<unknown> }) => Promise<void>,
    ): void
    spawn(name: string, params: object): Promise<unknown>
    startWorker(options: { concurrency: number }): Promise<unknown>
  }
}

const SQL = join(PEERS, 'absurd.sql')
const BEST_CONCURRENCY = 50

export const absurd = engineContender({
  title: 'absurd',
  peers: ['absurd-sdk', 'pg'],
  differs: 'its logic is in stored procedures, which are not on npm; a pool of 20. It polls four times a second. Best: 50 at once',
  pollMs: 250,
  share: 0.1,
  async open(place, { steps, concurrency, tick }) {
    if (!existsSync(SQL))
      throw new Error('its stored procedures are not on npm: put sql/absurd.sql of its repository at bench/peers/absurd.sql')
    const { Absurd } = await loadPeer<AbsurdSdk>('absurd-sdk')
    const { default: pg } = await loadPeer<{ default: { Pool: new (config: object) => Pool } }>('pg')
    const db = new pg.Pool({ connectionString: onPostgres(place).url, max: 20 })
    await db.query(readFileSync(SQL, 'utf8'))
    const engine = new Absurd({ db, queueName: 'q' })
    await engine.createQueue()
    engine.registerTask({ name: 'job' }, async (_params, ctx) => {
      if (steps === 0) tick()
      for (let i = 0; i < steps; i++) {
        await ctx.step(`step ${i}`, async () => {
          tick()
          return i
        })
      }
    })
    return {
      enqueue: (i) => engine.spawn('job', { i }),
      start: () => engine.startWorker({ concurrency: concurrency === 'best' ? BEST_CONCURRENCY : concurrency }),
      async unfinished() {
        const { rows } = await db.query("select count(*) from absurd.t_q where state in ('pending', 'running', 'sleeping')")
        return Number(rows[0]?.count)
      },
    }
  },
})
