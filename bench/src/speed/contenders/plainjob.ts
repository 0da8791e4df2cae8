import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import { onSqlite } from '../place.ts'

interface Queue {
  add(type: string, data: unknown): unknown
  addMany(type: string, data: unknown[]): unknown
  countJobs(filter: { status: number }): number
}

interface Plainjob {
  better(database: unknown): unknown
  defineQueue(options: { connection: unknown; logger: Console }): Queue
  defineWorker(type: string, work: () => void, options: { queue: Queue; logger: Console }): { start(): Promise<void> }
}

const PENDING = 0
const PROCESSING = 1
const BEST_WORKERS = 10

const quiet = { ...console, debug: () => {}, info: () => {} }

export const plainjob = engineContender({
  title: 'plainjob',
  peers: ['plainjob', 'better-sqlite3'],
  differs:
    'a queue without steps on better-sqlite3; it sets WAL and NORMAL itself. It has no lease that is renewed, no fence, no event log and no notification, and its worker never lets timers run during a drain. Best: 10 workers in the process',
  pollMs: 1000,
  async open(place, { steps, concurrency, tick }) {
    if (steps > 0) throw new Error('plainjob has no steps')
    const { better, defineQueue, defineWorker } = await loadPeer<Plainjob>('plainjob')
    const { default: Database } = await loadPeer<{ default: new (file: string) => unknown }>('better-sqlite3')
    const queue = defineQueue({ connection: better(new Database(onSqlite(place).file)), logger: quiet })
    const workers = Array.from({ length: concurrency === 'best' ? BEST_WORKERS : concurrency }, () =>
      defineWorker('job', tick, { queue, logger: quiet }),
    )
    return {
      enqueue: async (i) => queue.add('job', { i }),
      enqueueMany: async (count) =>
        queue.addMany(
          'job',
          Array.from({ length: count }, (_, i) => ({ i })),
        ),
      start() {
        for (const worker of workers) void worker.start()
      },
      unfinished: async () => queue.countJobs({ status: PENDING }) + queue.countJobs({ status: PROCESSING }),
    }
  },
})
