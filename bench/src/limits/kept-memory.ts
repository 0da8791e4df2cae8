// What a worker keeps in memory after it has executed many runs.
import { anything } from '../anything.ts'
import { heapBytes } from '../cost.ts'
import { completed, type Limit, openEngine } from './limit.ts'

const RUNS = 20_000
const WARM_UP = 2000
const AT_ONCE = 2000

export const keptMemory: Limit = {
  title: `more memory in use after ${RUNS.toLocaleString('en')} runs of a step each than after ${WARM_UP.toLocaleString('en')}`,
  unit: 'MiB',
  most: 4,
  async measure(store) {
    const durably = await openEngine(store, 100)
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('step', () => 1))
    durably.start()
    const execute = async (runs: number) => {
      for (let left = runs; left > 0; left -= AT_ONCE) {
        const done = completed(durably, AT_ONCE)
        await job.batchTrigger(Array.from({ length: AT_ONCE }, (_, i) => ({ payload: i })))
        await done
      }
      return heapBytes()
    }
    const before = await execute(WARM_UP)
    const after = await execute(RUNS)
    await durably[Symbol.asyncDispose]()
    return (after - before) / 2 ** 20
  },
}
