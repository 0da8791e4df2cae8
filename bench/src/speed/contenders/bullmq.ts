import type { Contender } from '../contender.ts'
import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import type { Place } from '../place.ts'

interface Queue {
  waitUntilReady(): Promise<unknown>
  add(name: string, data: object): Promise<unknown>
  addBulk(jobs: { name: string; data: object }[]): Promise<unknown>
  getJobCountByTypes(...types: string[]): Promise<number>
}

interface BullMq {
  Queue: new (name: string, options: object) => Queue
  Worker: new (
    name: string,
    work: () => Promise<void>,
    options: object,
  ) => { on(event: 'error', listener: () => void): void; run(): Promise<void> }
  setDefaultBackendFactory(factory: unknown): void
  createPostgresBackend: unknown
}

function connectionTo(place: Place): object {
  if (place.kind === 'redis') return { host: '127.0.0.1', port: place.port }
  if (place.kind === 'postgres') return { connectionString: place.url, max: 20, migrate: true }
  throw new Error(`BullMQ does not run on ${place.kind}`)
}

function bullmq(
  about: Pick<Contender, 'title' | 'peers' | 'differs' | 'durability' | 'place' | 'share'>,
  bestConcurrency: number,
): Contender {
  return engineContender({
    ...about,
    async open(place, { steps, concurrency, tick }) {
      if (steps > 0) throw new Error('BullMQ has no steps')
      const { Queue, Worker, setDefaultBackendFactory, createPostgresBackend } = await loadPeer<BullMq>('bullmq')
      if (place.kind === 'postgres') setDefaultBackendFactory(createPostgresBackend)
      const connection = connectionTo(place)
      const queue = new Queue('queue', { connection })
      await queue.waitUntilReady()
      const worker = new Worker('queue', async () => tick(), {
        connection,
        autorun: false,
        concurrency: concurrency === 'best' ? bestConcurrency : concurrency,
      })
      worker.on('error', () => {})
      return {
        enqueue: (i) => queue.add('job', { i }),
        enqueueMany: (count) => queue.addBulk(Array.from({ length: count }, (_, i) => ({ name: 'job', data: { i } }))),
        start() {
          void worker.run()
        },
        unfinished: () => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized'),
      }
    },
  })
}

export const bullmqRedis = bullmq(
  {
    title: 'BullMQ (Redis)',
    peers: ['bullmq', 'ioredis'],
    place: 'redis',
    durability: 'Redis, appendfsync everysec: up to a second of work can be lost',
    differs: 'a queue without steps, on Redis instead of Postgres. Best: 100 at once',
  },
  100,
)
export const bullmqPostgres = bullmq(
  { title: 'BullMQ (Postgres)', peers: ['bullmq', 'pg'], differs: 'a queue without steps. Best: 50 at once, a pool of 20', share: 0.3 },
  50,
)
