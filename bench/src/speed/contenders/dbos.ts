import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import { onPostgres } from '../place.ts'

type Workflow = (i: number) => Promise<void>

interface Dbos {
  DBOS: {
    setConfig(config: object): void
    launch(): Promise<void>
    registerWorkflow(work: Workflow, config: { name: string }): Workflow
    runStep(work: () => Promise<unknown>, config: { name: string }): Promise<unknown>
    registerQueue(name: string, options: object): Promise<unknown>
    startWorkflow(workflow: Workflow, options?: { queueName: string }): Workflow
    listWorkflows(filter: { status: string[]; loadInput: boolean }): Promise<unknown[]>
  }
  DBOSClient: {
    create(options: { systemDatabaseUrl: string; applicationName: string }): Promise<{
      enqueue(options: { workflowName: string; queueName: string }, i: number): Promise<unknown>
    }>
  }
}

const NAME = 'bench'
const QUEUE = 'queue'
const POOL = 20

export const dbos = engineContender({
  title: 'DBOS',
  peers: ['@dbos-inc/dbos-sdk', 'pg'],
  differs:
    'a pool of 20. A step is four round trips. A queue with a limit takes as many as that from the database once a second, so a drain is measured without one; rows with steps start workflows without a queue, ten at a time. No notification wakes its queue',
  pollMs: 1000,
  share: 0.2,
  async open(place, { steps, concurrency, tick }) {
    const { DBOS, DBOSClient } = await loadPeer<Dbos>('@dbos-inc/dbos-sdk')
    const systemDatabaseUrl = onPostgres(place).url
    const config = { name: NAME, systemDatabaseUrl, systemDatabasePoolSize: POOL, logLevel: 'error', runAdminServer: false }
    const workflow = DBOS.registerWorkflow(
      async () => {
        if (steps === 0) tick()
        for (let i = 0; i < steps; i++) {
          await DBOS.runStep(
            async () => {
              tick()
              return i
            },
            { name: `step ${i}` },
          )
        }
      },
      { name: 'job' },
    )
    // Nothing is taken from the queue until it is registered, which is the start.
    DBOS.setConfig(config)
    await DBOS.launch()
    const client = await DBOSClient.create({ systemDatabaseUrl, applicationName: NAME })
    const unlimited = { minPollingIntervalMs: 10 }
    const limited = { workerConcurrency: concurrency }
    const waiting: number[] = []
    return {
      async enqueue(i) {
        if (steps > 0) waiting.push(i)
        else await client.enqueue({ workflowName: 'job', queueName: QUEUE }, i)
      },
      start() {
        if (steps === 0) return DBOS.registerQueue(QUEUE, concurrency === 'best' ? unlimited : limited)
        void startDirectly(waiting, concurrency === 'best' ? 10 : concurrency, async (i) => {
          const handle = (await DBOS.startWorkflow(workflow)(i)) as unknown as { getResult(): Promise<void> }
          await handle.getResult()
        })
      },
      async unfinished() {
        const status = ['PENDING', 'ENQUEUED']
        return (await DBOS.listWorkflows({ status, loadInput: false })).length
      },
    }
  },
})

async function startDirectly(waiting: number[], concurrency: number, execute: (i: number) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (let i = waiting.shift(); i !== undefined; i = waiting.shift()) await execute(i)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
