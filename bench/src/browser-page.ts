// The page of the browser bench. A step is timed from one record to the next: its function returns at once.
import type { Dialect } from 'kysely'
import { SQLocalKysely } from 'sqlocal/kysely'
import { z } from 'zod'
import { browserDialect } from '../../packages/durably/dist/browser/index.js'
import { createDurably } from '../../packages/durably/dist/index.js'

const INSERTS = 200
const STEPS = 200
const MANY_STEPS = 1000
const WARM_UP = 20

/** In milliseconds. */
export interface BrowserFigures {
  insert: number[]
  step: number[]
  stepRelaxed: number[]
  stepOfFollower: number[]
  stepOfSqlocal: number[]
  thousandSteps: { browser: number; sqlocal: number }
}

async function timeInserts(): Promise<number[]> {
  const { sql, destroy } = new SQLocalKysely('insert.sqlite3')
  await sql`CREATE TABLE steps (id INTEGER PRIMARY KEY, name TEXT, output TEXT)`
  const times: number[] = []
  for (let i = 0; i < WARM_UP + INSERTS; i++) {
    const began = performance.now()
    await sql`INSERT INTO steps (name, output) VALUES (${`step ${i}`}, ${'"done"'})`
    times.push(performance.now() - began)
  }
  await destroy()
  return times.slice(WARM_UP)
}

/** `host`: another instance on the same database that has it open. */
async function timeRun(dialect: Dialect, steps: number, host?: Dialect): Promise<{ times: number[]; total: number }> {
  const other = host && createDurably({ dialect: host })
  await other?.migrate()
  const durably = createDurably({ dialect })
  const times: number[] = []
  const job = durably.defineJob({ name: 'bench', input: z.object({}) }, async (ctx) => {
    for (let i = 0; i < steps; i++) {
      const began = performance.now()
      await ctx.run(`step ${i}`, () => 'done')
      times.push(performance.now() - began)
    }
  })
  await durably.migrate()
  durably.start()
  const began = performance.now()
  await job.triggerAndWait({})
  const total = performance.now() - began
  await durably[Symbol.asyncDispose]()
  await other?.[Symbol.asyncDispose]()
  return { times: times.slice(WARM_UP), total }
}

async function measure(): Promise<BrowserFigures> {
  const sqlocal = (name: string) => new SQLocalKysely(`${name}.sqlite3`).dialect
  return {
    insert: await timeInserts(),
    step: (await timeRun(browserDialect('step'), STEPS + WARM_UP)).times,
    stepRelaxed: (await timeRun(browserDialect('relaxed', { durability: 'relaxed' }), STEPS + WARM_UP)).times,
    stepOfFollower: (await timeRun(browserDialect('guest'), STEPS + WARM_UP, browserDialect('guest'))).times,
    stepOfSqlocal: (await timeRun(sqlocal('steps'), STEPS + WARM_UP)).times,
    thousandSteps: {
      browser: (await timeRun(browserDialect('many'), MANY_STEPS)).total,
      sqlocal: (await timeRun(sqlocal('many'), MANY_STEPS)).total,
    },
  }
}

Object.assign(globalThis, { measure })
