import type { Contender } from '../contender.ts'
import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import { onPostgres, onSqlite, type Place } from '../place.ts'

interface Backend {
  countWorkflowRuns(): Promise<Record<string, number>>
}

interface OpenWorkflow {
  OpenWorkflow: new (options: {
    backend: Backend
  }) => {
    defineWorkflow(
      spec: { name: string },
      work: (given: { step: { run(spec: { name: string }, work: () => Promise<unknown>): Promise<unknown> } }) => Promise<void>,
    ): { run(input: unknown): Promise<unknown> }
    newWorker(options: { concurrency: number }): { start(): Promise<void> }
  }
}

const BEST_CONCURRENCY = 50
/** Its worker looks again after 50 to 200 ms. */
const POLL_MS = 200

function openworkflow(
  about: Pick<Contender, 'title' | 'peers' | 'differs' | 'node' | 'durability'>,
  connect: (place: Place) => Promise<Backend>,
) {
  return engineContender({
    ...about,
    pollMs: POLL_MS,
    share: 0.1,
    async open(place, { steps, concurrency, tick }) {
      const { OpenWorkflow } = await loadPeer<OpenWorkflow>('openworkflow')
      const backend = await connect(place)
      const engine = new OpenWorkflow({ backend })
      const workflow = engine.defineWorkflow({ name: 'job' }, async ({ step }) => {
        if (steps === 0) tick()
        for (let i = 0; i < steps; i++) {
          await step.run({ name: `step ${i}` }, async () => {
            tick()
            return i
          })
        }
      })
      return {
        enqueue: (i) => workflow.run({ i }),
        start: () => engine.newWorker({ concurrency: concurrency === 'best' ? BEST_CONCURRENCY : concurrency }).start(),
        async unfinished() {
          const { pending = 0, running = 0, sleeping = 0 } = await backend.countWorkflowRuns()
          return pending + running + sleeping
        },
      }
    },
  })
}

export const openworkflowPostgres = openworkflow(
  {
    title: 'OpenWorkflow',
    peers: ['openworkflow', 'postgres'],
    differs: 'a step is two commits, one at its start and one at its end; no event log, no notification. Best: 50 at once',
  },
  async (place) => {
    const { BackendPostgres } = await loadPeer<{ BackendPostgres: { connect(url: string): Promise<Backend> } }>('openworkflow/postgres')
    return BackendPostgres.connect(onPostgres(place).url)
  },
)

export const openworkflowSqlite = openworkflow(
  {
    title: 'OpenWorkflow',
    peers: ['openworkflow', 'node24'],
    node: 'node24',
    differs: 'needs node:sqlite, so it runs on Node 24, where Durably’s row runs on the Node of the bench; a step is two commits',
    durability: 'WAL, synchronous FULL (it sets none)',
  },
  async (place) => {
    const { BackendSqlite } = await loadPeer<{ BackendSqlite: { connect(path: string): Backend } }>('openworkflow/sqlite')
    return BackendSqlite.connect(onSqlite(place).file)
  },
)
