// A worker that was silent for a whole lease: it goes on if nobody took its run, and writes nothing if somebody did.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { faulty } from './faulty-store.ts'
import { freezable } from './freezable-env.ts'
import { gate } from './gate.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { setup, WORLDS, type WorldName } from './world.ts'

const anything = z.unknown()

/** A worker that is suspended in the middle of its first step. */
async function suspended(name: WorldName) {
  const here = await setup(name)
  const process = freezable(here.env)
  const watched = faulty()
  const zombie = here.another({ env: process, wrap: watched.wrap })
  const first = gate<'completes' | 'fails'>()
  const ran: string[] = []
  const reason = gate<unknown>()
  const job = zombie.defineJob({ name: 'job', input: anything }, async (ctx) => {
    ctx.signal.addEventListener('abort', () => reason.open(ctx.signal.reason))
    await ctx.run('one', async () => {
      ran.push('one')
      const ending = await first.opened
      ctx.progress(99)
      if (ending === 'fails') throw new Error('in the zombie')
      return 'by the zombie'
    })
    await ctx.run('two', () => void ran.push('two'))
    return 'by the zombie'
  })
  const { id } = await job.trigger(null)
  zombie.start()
  await here.env.advance(100)
  process.freeze()
  return { ...here, id, process, zombie, first, ran, reason, calls: watched.faults.calls }
}

describe.each(WORLDS)('a suspended worker on %s', (world) => {
  test('that wakes up and still owns its run goes on: nothing lost, nothing twice (001 §ブラウザタブの処理)', async () => {
    const { durably, env, id, process, first, ran } = await suspended(world)
    await env.advance(3_600_000)
    process.thaw()
    await env.advance(10)
    first.open('completes')
    await env.advance(10)
    expect(ran).toEqual(['one', 'two'])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'by the zombie', recoveries: 0 })
  })

  test('beats before it starts a new step, when its lease was nearly over', async () => {
    const { env, process, first, calls } = await suspended(world)
    await env.advance(28_000)
    calls.length = 0
    first.open('completes')
    process.thaw()
    await env.advance(0)
    expect(calls.filter((call) => call.startsWith('apply'))[0]).toMatch(/heartbeat|recordStep/)
    expect(calls.filter((call) => call.startsWith('apply')).at(-1)).toBe('apply.complete')
  })

  test.each(['completes', 'fails'] as const)(
    'that was taken over writes nothing when its step %s: the reclaimed success stands',
    async (ending) => {
      const { durably, env, id, process, zombie, first, ran, reason, store } = await suspended(world)
      const heard = listenTo(zombie)
      const rival = durably
      rival.defineJob({ name: 'job', input: anything }, async (ctx) => {
        await ctx.run('one', () => 'by the rival')
        return 'by the rival'
      })
      rival.start()
      await env.advance(31_000)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'by the rival' })
      const before = { row: await store.runs.get(id), steps: await store.steps.list(id), events: await store.events.list(id) }

      process.thaw()
      first.open(ending)
      await env.advance(60_000)
      expect(ran).toEqual(['one'])
      expect(await reason.opened).toMatchObject({ code: 'lease_lost' })
      expect({ row: await store.runs.get(id), steps: await store.steps.list(id), events: await store.events.list(id) }).toEqual(before)
      expect(typesOf(heard)).not.toContain('step:complete')
      expect(typesOf(heard)).not.toContain('step:fail')
      expect(typesOf(heard)).not.toContain('run:fail')
      expect(ofType(heard, 'worker:error')).toMatchObject([{ runId: id, cause: { code: 'lease_lost' } }])
    },
  )

  test('that was taken over hears it by its signal during a long step, at its first beat', async () => {
    const { durably, env, id, process, reason, zombie } = await suspended(world)
    durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('one', () => new Promise<void>(() => {})))
    durably.start()
    await env.advance(31_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
    process.thaw()
    await env.advance(0)
    expect(await reason.opened).toMatchObject({ code: 'lease_lost', message: expect.stringContaining(id) })
    void zombie
  })

  test('goes on when its wall clock jumps ahead but nobody took its run', async () => {
    const { durably, env, id, process, first } = await suspended(world)
    process.thaw()
    env.jump(7_200_000)
    first.open('completes')
    await env.advance(10_000)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'by the zombie' })
  })

  test('a wall clock that is set back delays nothing in the process that holds the run', async () => {
    const { durably, env, id, process, first } = await suspended(world)
    process.thaw()
    env.jump(-3_600_000)
    await env.advance(20_000)
    first.open('completes')
    await env.advance(10)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })
})

describe.each(WORLDS)('a worker that was suspended between two steps on %s', (world) => {
  test.each([
    { taken: true, ran: ['one'] },
    { taken: false, ran: ['one', 'two'] },
  ])('asks whether the run is still its own before it starts the next one: %o', async ({ taken, ran }) => {
    const { durably, another, env } = await setup(world)
    const process = freezable(env)
    const watched = faulty()
    const zombie = another({ env: process, wrap: watched.wrap })
    const between = gate()
    const seen: string[] = []
    const job = zombie.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => void seen.push('one'))
      await between.opened
      await ctx.run('two', () => void seen.push('two'))
    })
    const { id } = await job.trigger(null)
    zombie.start()
    await env.advance(100)
    process.freeze()
    durably.defineJob({ name: 'job', input: anything }, async () => 'by the rival')
    if (taken) durably.start()
    await env.advance(31_000)
    watched.faults.calls.length = 0
    // Its timers have not been served yet: nothing but the call of the step can notice.
    between.open()
    await env.idle()
    expect(seen).toEqual(['one'])
    process.thaw()
    await env.advance(100)
    expect(watched.faults.calls.find((call) => call !== 'runs.probe')).toBe('apply.heartbeat')
    expect(seen).toEqual(ran)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: taken ? 'by the rival' : undefined })
  })
})

describe.each(WORLDS)('an owner whose ending is refused on %s', (world) => {
  test('reports lease_lost, keeps the recorded steps and emits no ending (peer: completion refused)', async () => {
    const { durably, another, env, soon } = await setup(world)
    const process = freezable(env)
    const zombie = another({ env: process })
    const heard = listenTo(zombie)
    const last = gate()
    const job = zombie.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => 1)
      await last.opened
      return 'by the zombie'
    })
    const { id } = await job.trigger(null)
    const done = zombie.processOne()
    await env.advance(100)
    process.freeze()
    durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('one', () => 2))
    durably.start()
    await env.advance(31_000)
    last.open()
    process.thaw()
    await soon(done)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
    expect(typesOf(heard)).toEqual(['run:trigger', 'run:start', 'step:start', 'step:complete', 'worker:error'])
  })
})

test.each(WORLDS)('on %s a worker that claims a run anew lets go of what it began under the lease before', async (name) => {
  const { env, store, another } = await setup(name)
  const worker = another({ concurrency: 2 })
  const reasons: unknown[] = []
  const job = worker.defineJob({ name: 'job', input: anything }, async (ctx) => {
    ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason))
    await ctx.run('one', () => new Promise(() => {}))
  })
  const { id } = await job.trigger(null)
  worker.start()
  await env.advance(10)
  // As after a jump of the database's clock.
  const [running] = await store.runs.list({ statuses: ['running'] })
  await store.runs.reap({ maxRecoveries: 10, tokens: [running?.leaseOwner ?? ''] })
  await env.advance(1010)
  expect(await store.runs.get(id)).toMatchObject({ status: 'running', leaseGeneration: 2 })
  expect(reasons).toMatchObject([{ code: 'lease_lost', message: expect.stringContaining('anew') }])
  void worker.stop({ timeout: 1 })
  await env.advance(1000)
})
