// Steps with large results, beside a bare insert of the same text.
import { sql } from 'kysely'
import { anything } from '../anything.ts'
import { median } from '../summary.ts'
import { type Engine, type Limit, openEngine } from './limit.ts'

const STEPS = 200
const BYTES = 100_000

export const largeOutputs: Limit = {
  title: `a step whose result has ${BYTES / 1000} kB, against a bare insert of it, medians`,
  unit: 'times',
  most: 4,
  async measure(store) {
    const durably = await openEngine(store, 1)
    const output = 'x'.repeat(BYTES)
    const steps: number[] = []
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      for (let i = 0; i < STEPS; i++) {
        const began = performance.now()
        await ctx.run(`step ${i}`, () => output)
        steps.push(performance.now() - began)
      }
    })
    const inserts = await bareInserts(durably, output)
    await job.trigger(null)
    await durably.processOne()
    inserts.push(...(await bareInserts(durably, output)))
    await durably[Symbol.asyncDispose]()
    return median(steps) / median(inserts)
  },
}

async function bareInserts({ db }: Engine, output: string): Promise<number[]> {
  const times: number[] = []
  await sql`CREATE TABLE IF NOT EXISTS bare (i INTEGER, output TEXT)`.execute(db)
  for (let i = 0; i < STEPS / 2; i++) {
    const began = performance.now()
    await sql`INSERT INTO bare VALUES (${i}, ${output})`.execute(db)
    times.push(performance.now() - began)
  }
  return times
}
