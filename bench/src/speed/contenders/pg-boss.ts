import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import { onPostgres } from '../place.ts'

interface Boss {
  on(event: 'error', listener: () => void): void
  start(): Promise<unknown>
  createQueue(name: string): Promise<void>
  send(name: string, data: object): Promise<unknown>
  insert(jobs: { name: string; data: object }[]): Promise<unknown>
  fetch(name: string, options: { batchSize: number }): Promise<{ id: string }[]>
  complete(name: string, ids: string[]): Promise<unknown>
  work(name: string, options: { pollingIntervalSeconds: number }, work: () => Promise<void>): Promise<unknown>
  getQueueSize(name: string, options: { before: string }): Promise<number>
}

const QUEUE = 'queue'
const BATCH = 500

async function drain(boss: Boss, tick: () => void): Promise<void> {
  for (let jobs = await boss.fetch(QUEUE, { batchSize: BATCH }); jobs.length > 0; jobs = await boss.fetch(QUEUE, { batchSize: BATCH })) {
    for (const _ of jobs) tick()
    await boss.complete(
      QUEUE,
      jobs.map(({ id }) => id),
    )
  }
}

export const pgBoss = engineContender({
  title: 'pg-boss',
  peers: ['pg-boss'],
  differs:
    'a queue without steps. Best: `fetch(500)` and `complete(500)` called by the bench, because its own worker takes one batch per half second; latency is that of its worker, which polls twice a second at most',
  pollMs: 500,
  async open(place, { steps, concurrency, tick }) {
    if (steps > 0) throw new Error('pg-boss has no steps')
    const { default: PgBoss } = await loadPeer<{ default: new (options: object) => Boss }>('pg-boss')
    const boss = new PgBoss({ connectionString: onPostgres(place).url, max: 20 })
    boss.on('error', () => {})
    await boss.start()
    await boss.createQueue(QUEUE)
    return {
      enqueue: (i) => boss.send(QUEUE, { i }),
      enqueueMany: (count) => boss.insert(Array.from({ length: count }, (_, i) => ({ name: QUEUE, data: { i } }))),
      start() {
        if (concurrency === 'best') void drain(boss, tick)
        else return boss.work(QUEUE, { pollingIntervalSeconds: 0.5 }, async () => tick())
      },
      unfinished: () => boss.getQueueSize(QUEUE, { before: 'completed' }),
    }
  },
})
