// Several runtimes on one database: every run is executed by one of them, whatever else goes on.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const ROUNDS = 3

describe.each(WORLDS)('many runtimes on %s', (world) => {
  test('each run is claimed once, in repeated rounds (peer: db-stress)', async () => {
    const { durably, another, env, store } = await setup(world, { concurrency: 3 })
    const ran: string[] = []
    const define = (instance: Durably) =>
      instance.defineJob({ name: 'job', input: z.string() }, async (ctx, label) => {
        await ctx.run('one', () => void ran.push(label))
        await new Promise<void>((resolve) => void env.timer(7, resolve))
        await ctx.run('two', () => void ran.push(label))
      })
    const runtimes = [durably, ...Array.from({ length: 3 }, () => another({ concurrency: 3 }))]
    const jobs = runtimes.map(define)
    for (const runtime of runtimes) runtime.start()
    for (let round = 0; round < ROUNDS; round++) {
      const batch = Array.from({ length: 24 }, (_, i) => ({
        payload: `${round}/${i}`,
        options: i % 4 === 0 ? { concurrencyKey: 'key' } : {},
      }))
      await jobs[round]?.batchTrigger(batch)
      await env.advance(8000)
    }
    const runs = await durably.getRuns()
    expect(runs.filter(({ status }) => status !== 'completed')).toEqual([])
    expect(ran).toHaveLength(24 * 2 * ROUNDS)
    for (const { id } of runs) expect(await store.runs.get(id)).toMatchObject({ leaseGeneration: 1 })
  })

  test('trigger, batchTrigger, deleteRun and triggerAndWait during active workers never meet SQLITE_BUSY (peer: write contention)', async () => {
    const { durably, another, env, within } = await setup(world, { concurrency: 2 })
    const define = (instance: Durably) =>
      instance.defineJob({ name: 'job', input: z.number(), output: z.number() }, async (ctx, n) => {
        for (const name of ['a', 'b', 'c']) await ctx.run(name, () => n)
        return n
      })
    const worker = another({ concurrency: 2 })
    const job = define(durably)
    define(worker)
    const heard = [listenTo(durably), listenTo(worker)].map((events) => () => ofType(events, 'worker:error'))
    durably.start()
    worker.start()
    const outside = async (n: number) => {
      const [first] = await job.batchTrigger([{ payload: n }, { payload: n }])
      const { id, output } = await job.triggerAndWait(n)
      await durably.deleteRun(id)
      await job.trigger(n, { idempotencyKey: `${n}` })
      return [first?.status, output]
    }
    const answers = await within(60_000, Promise.all(Array.from({ length: 8 }, (_, n) => outside(n))))
    await env.advance(5000)
    expect(answers).toEqual(Array.from({ length: 8 }, (_, n) => ['pending', n]))
    expect(await durably.getRuns({ status: 'completed' })).toHaveLength(24)
    for (const errors of heard) expect(errors()).toEqual([])
  })

  test('a takeover in the middle of many runs loses none and doubles none', async () => {
    const { durably, another, env, within } = await setup(world, { concurrency: 4 })
    const completed: string[] = []
    const define = (instance: Durably) =>
      instance.defineJob({ name: 'job', input: z.number() }, (ctx) =>
        ctx.run('work', ({ signal }) => {
          return new Promise<void>((resolve, reject) => {
            env.timer(400, resolve)
            signal.addEventListener('abort', () => reject(signal.reason))
          })
        }),
      )
    const [one, two] = [another({ concurrency: 4 }), another({ concurrency: 4 })]
    const job = define(durably)
    for (const instance of [one, two]) define(instance)
    for (const instance of [durably, one, two]) instance.on('run:complete', ({ runId }) => void completed.push(runId))
    const runs = await job.batchTrigger(Array.from({ length: 40 }, (_, i) => ({ payload: i })))
    for (const instance of [durably, one, two]) instance.start()
    await env.advance(1000)
    await within(2000, one.stop({ timeout: 10 }))
    await env.advance(30_000)
    expect(completed.toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
  })
})
