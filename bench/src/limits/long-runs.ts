// A step of a very long run costs no more than one of a short run.
import { anything } from '../anything.ts'
import { costOf } from '../cost.ts'
import { median } from '../summary.ts'
import { type Limit, openEngine } from './limit.ts'

const LONG = 10_000
const SHORT = 100
/** Half of them before the long run and half after it, so that what the machine does meanwhile hits both. */
const SHORT_RUNS = 20

export const longRuns: Limit = {
  title: `processor time of a step in a run of ${LONG.toLocaleString('en')} steps, against one of ${SHORT}`,
  unit: 'times',
  most: 1.1,
  async measure(store) {
    const durably = await openEngine(store, 1)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx, steps) => {
      for (let i = 0; i < (steps as number); i++) await ctx.run(`step ${i}`, () => i)
    })
    const perStep = async (steps: number) => {
      await job.trigger(steps)
      return (await costOf(async () => void (await durably.processOne()))).cpuMs / steps
    }
    const short: number[] = []
    const several = async () => {
      for (let i = 0; i < SHORT_RUNS / 2; i++) short.push(await perStep(SHORT))
    }
    await perStep(LONG / 10)
    await several()
    const long = await perStep(LONG)
    await several()
    await durably[Symbol.asyncDispose]()
    return long / median(short)
  },
}
