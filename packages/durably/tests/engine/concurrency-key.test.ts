import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS } from './world.ts'

const text = z.string()

/** A job whose runs tell when they begin and end, and how many overlap. */
function defineWatched(durably: Durably, log: { begun: string[]; open: number; most: number }, name = 'watched') {
  return durably.defineJob({ name, input: text }, (ctx, label) =>
    ctx.run('work', async () => {
      log.begun.push(label)
      log.most = Math.max(log.most, ++log.open)
      await new Promise((resolve) => setImmediate(resolve))
      log.open--
    }),
  )
}

const newLog = () => ({ begun: [] as string[], open: 0, most: 0 })

describe.each(WORLDS)('concurrencyKey on %s', (world) => {
  test('runs of one key never overlap, in whatever instance they run (000 §重複排除と直列化)', async () => {
    const { durably, another, within } = await setup(world, { concurrency: 4 })
    const log = newLog()
    const instances = [durably, another({ concurrency: 4 }), another({ concurrency: 4 })]
    const [job] = instances.map((instance) => defineWatched(instance, log))
    await job?.batchTrigger(Array.from({ length: 12 }, (_, i) => ({ payload: `${i}`, options: { concurrencyKey: 'one' } })))
    for (let i = 0; i < 12; i++) await within(5000, Promise.all(instances.map((instance) => instance.processUntilIdle())))

    expect(log).toMatchObject({ most: 1, open: 0 })
    expect(log.begun).toHaveLength(12)
    expect(await durably.getRuns({ status: 'completed' })).toHaveLength(12)
  })

  test('runs of one key start in the order they were created', async () => {
    const { durably, soon } = await setup(world, { concurrency: 3 })
    const log = newLog()
    const job = defineWatched(durably, log)
    for (const label of ['first', 'second', 'third']) await job.trigger(label, { concurrencyKey: 'one' })
    await soon(durably.processUntilIdle())
    expect(log.begun).toEqual(['first', 'second', 'third'])
  })

  test('a held key never blocks runs without it: they overtake (000 §ワーカー)', async () => {
    const { durably, soon } = await setup(world, { concurrency: 2 })
    const hold = gate()
    const begun: string[] = []
    const job = durably.defineJob({ name: 'hold', input: text }, (ctx, label) =>
      ctx.run('work', async () => {
        begun.push(label)
        if (label === 'holder') await hold.opened
      }),
    )
    await job.trigger('holder', { concurrencyKey: 'key' })
    for (let i = 0; i < 20; i++) await job.trigger(`waits ${i}`, { concurrencyKey: 'key' })
    await job.trigger('free')
    const other = await job.trigger('other key', { concurrencyKey: 'other' })
    durably.start()
    await soon(new Promise<void>((resolve) => void durably.on('run:complete', ({ runId }) => runId === other.id && resolve())))

    expect(begun).toEqual(['holder', 'free', 'other key'])
    expect(await durably.getRuns({ status: 'pending' })).toHaveLength(20)
    hold.open()
  })

  test('the run that waited for the key starts at once when it is free', async () => {
    const { durably, soon } = await setup(world, { concurrency: 2 })
    const hold = gate()
    const holding = gate()
    const waited = gate()
    const job = durably.defineJob({ name: 'hold', input: text }, (ctx, label) =>
      ctx.run('work', async () => {
        if (label === 'second') return waited.open()
        holding.open()
        await hold.opened
      }),
    )
    await job.trigger('first', { concurrencyKey: 'key' })
    await job.trigger('second', { concurrencyKey: 'key' })
    durably.start()
    await soon(holding.opened)
    hold.open()
    await soon(waited.opened)
  })

  test('the key holds across jobs, as the seed says: a key names what is worked on, not by whom', async () => {
    const { durably, soon } = await setup(world, { concurrency: 2 })
    const log = newLog()
    const one = defineWatched(durably, log, 'one')
    const two = defineWatched(durably, log, 'two')
    await one.trigger('a', { concurrencyKey: 'org' })
    await two.trigger('b', { concurrencyKey: 'org' })
    await soon(durably.processUntilIdle())
    await soon(durably.processUntilIdle())
    expect(log).toMatchObject({ most: 1, begun: ['a', 'b'] })
  })

  test('a lost run holds its key until its lease is over, and is resumed before the next run of the key (peer: coalesce)', async () => {
    const mortal = faulty()
    const { durably, another, env, within } = await setup(world, { wrap: mortal.wrap })
    const begun: string[] = []
    const started = gate()
    const define = (instance: Durably, lives: boolean) =>
      instance.defineJob({ name: 'keyed', input: text }, (ctx, label) =>
        ctx.run('work', () => {
          begun.push(`${label}${lives ? '' : ' (lost)'}`)
          started.open()
          return lives ? undefined : new Promise<void>(() => {})
        }),
      )
    const job = define(durably, false)
    const lost = await job.trigger('first', { concurrencyKey: 'key' })
    await job.trigger('second', { concurrencyKey: 'key' })
    durably.start()
    await within(1000, started.opened)
    mortal.faults.die()

    const heir = another()
    define(heir, true)
    heir.start()
    await env.advance(29_000)
    expect(begun).toEqual(['first (lost)'])
    await env.advance(2000)
    expect(begun).toEqual(['first (lost)', 'first', 'second'])
    expect(await heir.getRun(lost.id)).toMatchObject({ status: 'completed', recoveries: 0 })
  })
})
