import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import { onPostgres } from '../place.ts'

interface Pool {
  on(event: 'error', listener: () => void): void
  query(sql: string): Promise<{ rows: { count: string }[] }>
}

interface GraphileWorker {
  Logger: new (sink: () => () => void) => unknown
  makeWorkerUtils(options: { pgPool: Pool; logger: unknown }): Promise<{
    migrate(): Promise<void>
    addJob(name: string, payload: object): Promise<unknown>
    addJobs(jobs: { identifier: string; payload: object }[]): Promise<unknown>
  }>
  run(options: object): Promise<unknown>
}

const BEST = { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0 }

export const graphileWorker = engineContender({
  title: 'graphile-worker',
  peers: ['graphile-worker', 'pg'],
  differs:
    'a queue without steps. It deletes a job when it has ended, so it writes less and keeps no history. Best: 24 at once, 500 claimed into memory, ends written in batches, a pool of 12; jobs that a process had claimed when it died wait four hours',
  async open(place, { steps, concurrency, tick }) {
    if (steps > 0) throw new Error('graphile-worker has no steps')
    const { default: worker } = await loadPeer<{ default: GraphileWorker }>('graphile-worker')
    const { default: pg } = await loadPeer<{ default: { Pool: new (config: object) => Pool } }>('pg')
    const pgPool = new pg.Pool({ connectionString: onPostgres(place).url, max: 12 })
    pgPool.on('error', () => {})
    const logger = new worker.Logger(() => () => {})
    const utils = await worker.makeWorkerUtils({ pgPool, logger })
    await utils.migrate()
    const settings = concurrency === 'best' ? BEST : { concurrentJobs: concurrency }
    return {
      enqueue: (i) => utils.addJob('job', { i }),
      enqueueMany: (count) => utils.addJobs(Array.from({ length: count }, (_, i) => ({ identifier: 'job', payload: { i } }))),
      start: () => worker.run({ pgPool, logger, noHandleSignals: true, taskList: { job: tick }, preset: { worker: settings } }),
      async unfinished() {
        const { rows } = await pgPool.query('select count(*) from graphile_worker._private_jobs')
        return Number(rows[0]?.count)
      },
    }
  },
})
