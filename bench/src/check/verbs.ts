// Verbs — the operations that are counted, in this order, on one database: first those that leave no run behind to be executed.
import { createDurably } from '../../../packages/durably/dist/index.js'
import { anything } from '../anything.ts'

/** What an engine of the check can do: its job takes the number of its steps, or waits for a signal. */
export function checkedEngine(options: Omit<NonNullable<Parameters<typeof createDurably>[0]>, 'store'>) {
  // A name of its own, of always the same length: that of the process is stored with each run.
  const durably = createDurably({ ...options, workerId: 'check', notifications: false, logger: false })
  const job = durably.defineJob({ name: 'job', input: anything }, async (ctx, steps) => {
    for (let i = 0; i < (steps as number); i++) await ctx.run(`step ${i}`, () => i)
  })
  const waiting = durably.defineJob({ name: 'waiting', input: anything }, (ctx) => ctx.waitFor('signal'))
  const failing = durably.defineJob({ name: 'failing', input: anything }, () => {
    const error = new Error('as it should')
    // A stack holds paths of files, and in a folder with a long name it would take more pages.
    error.stack = 'Error: as it should'
    throw error
  })
  const parent = durably.defineJob({ name: 'parent', input: anything }, (ctx) => ctx.invoke(job, 0))
  return { durably, job, waiting, failing, parent }
}

export type CheckedEngine = ReturnType<typeof checkedEngine>

export interface Verb {
  name: string
  /** What one call of `act` is divided by. */
  per?: number
  concurrency?: number
  /** The writes of several runs share commits. How many of them meet is up to the event loop where a server answers. */
  grouped?: true
  /** Not counted. Returns the id of the run that the verb is about. */
  prepare?(engine: CheckedEngine): Promise<string>
  act(engine: CheckedEngine, id: string): Promise<unknown>
}

const processUntilIdle = ({ durably }: CheckedEngine) => durably.processUntilIdle()
const processOne = ({ durably }: CheckedEngine) => durably.processOne()

/** As a worker does it that was started, which claims many runs at once. */
function workUntilEnded(runs: number) {
  return async ({ durably }: CheckedEngine) => {
    let ended = 0
    const allEnded = new Promise<void>((resolve) => {
      const off = durably.on('run:complete', () => {
        if (++ended < runs) return
        off()
        resolve()
      })
    })
    durably.start()
    await allEnded
    await durably.stop()
  }
}

function triggered(steps: number) {
  return async ({ job }: CheckedEngine) => (await job.trigger(steps)).id
}

function triggeredMany(count: number, steps: number) {
  return async ({ job }: CheckedEngine) => {
    const [first] = await job.batchTrigger(Array.from({ length: count }, () => ({ payload: steps })))
    return first?.id ?? ''
  }
}

async function failed(engine: CheckedEngine): Promise<string> {
  const { id } = await engine.failing.trigger(0)
  await processUntilIdle(engine)
  return id
}

async function waiting(engine: CheckedEngine): Promise<string> {
  const { id } = await engine.waiting.trigger(0)
  await processUntilIdle(engine)
  return id
}

let keys = 0
const nextKey = () => `key ${String(keys++).padStart(6, '0')}`

async function known({ job }: CheckedEngine): Promise<string> {
  return (await job.trigger(0, { idempotencyKey: 'known' })).id
}

export const VERBS: readonly Verb[] = [
  { name: 'look that finds nothing', act: processOne },
  { name: 'run of 0 steps', prepare: triggered(0), act: processOne },
  { name: 'run of 1 step', prepare: triggered(1), act: processOne },
  { name: 'run of 100 steps, per step', per: 100, prepare: triggered(100), act: processOne },
  {
    name: '10 runs of 10 steps at once, per step',
    per: 100,
    concurrency: 10,
    grouped: true,
    prepare: triggeredMany(10, 10),
    act: workUntilEnded(10),
  },
  {
    name: '100 runs of 0 steps at once, per run',
    per: 100,
    concurrency: 100,
    grouped: true,
    prepare: triggeredMany(100, 0),
    act: workUntilEnded(100),
  },
  { name: 'run until it waits for a signal', prepare: async ({ waiting }) => (await waiting.trigger(0)).id, act: processOne },
  { name: 'run with a child run', prepare: async ({ parent }) => (await parent.trigger(0)).id, act: processUntilIdle },
  { name: 'signal', prepare: waiting, act: ({ durably }, id) => durably.signal(id, 'signal', 1) },
  { name: 'retry', prepare: failed, act: ({ durably }, id) => durably.retry(id) },
  { name: 'cancel', prepare: triggered(0), act: ({ durably }, id) => durably.cancel(id) },
  { name: 'deleteRun', prepare: failed, act: ({ durably }, id) => durably.deleteRun(id) },
  { name: 'getRun', prepare: triggered(0), act: ({ durably }, id) => durably.getRun(id) },
  { name: 'trigger', act: triggered(0) },
  { name: 'trigger with a new key', act: ({ job }) => job.trigger(0, { idempotencyKey: nextKey() }) },
  { name: 'trigger with a known key', prepare: known, act: known },
  { name: 'batchTrigger of 1,000, per run', per: 1000, act: triggeredMany(1000, 0) },
]
