// A run that would fail at its next loss is executed alone: no run fails because another one kills their process (ADR 0026).
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { faulty } from './faulty-store.ts'
import { listenTo, ofType, typesOf } from './listening.ts'
import { setup, WORLDS, type World } from './world.ts'

const MAX_RECOVERIES = 2
/** Until a lost run was taken back, and could be claimed. */
const TAKEN_BACK_MS = 32_000
const STEP_MS = 10_000
const LEASE_MS = 30_000
const anything = z.unknown()

/** `killer` kills its process in its first step; `worker` has two steps of ten seconds; the step of `endless` does not end. */
function defineJobs(durably: Durably, env: World['env'], kill: () => void): void {
  const work = () => new Promise<void>((resolve) => void env.timer(STEP_MS, resolve))
  durably.defineJob({ name: 'killer', input: anything }, (ctx) => ctx.run('kill', kill))
  durably.defineJob({ name: 'endless', input: anything }, (ctx) => ctx.run('endless', () => new Promise<void>(() => {})))
  durably.defineJob({ name: 'worker', input: anything }, async (ctx) => {
    await ctx.run('first', work)
    await ctx.run('second', work)
  })
}

function openWorker({ another, env }: World) {
  const { wrap, faults } = faulty()
  const durably = another({ wrap, concurrency: 4, maxRecoveries: MAX_RECOVERIES })
  defineJobs(durably, env, () => faults.die())
  return { durably, die: () => faults.die(), heard: listenTo(durably) }
}

async function trigger(durably: Durably, name: string): Promise<string> {
  return (await durably.trigger(name, null)).id
}

/** A run that has lost as many workers as a run may. */
async function onLastChance(here: World, jobName = 'worker'): Promise<string> {
  const { durably, env } = here
  const id = await trigger(durably, jobName)
  for (let loss = 0; loss < MAX_RECOVERIES; loss++) {
    const doomed = openWorker(here)
    doomed.durably.start()
    await env.advance(1000)
    doomed.die()
    await env.advance(TAKEN_BACK_MS)
    // Takes it back, and has no jobs to execute it.
    const reaper = here.another({ maxRecoveries: MAX_RECOVERIES })
    reaper.start()
    await env.advance(1000)
    await reaper.stop()
  }
  expect(await durably.getRun(id)).toMatchObject({ status: 'pending', recoveries: MAX_RECOVERIES })
  return id
}

async function setupWithJobs(world: (typeof WORLDS)[number]): Promise<World> {
  const here = await setup(world)
  defineJobs(here.durably, here.env, () => {})
  return here
}

describe.each(WORLDS)('a last chance on %s', (world) => {
  test.each([0, 2, 4])('a run that kills its workers takes no other with it, with %i runs before it', async (before) => {
    const here = await setupWithJobs(world)
    const { durably, env } = here
    const others: string[] = []
    for (let i = 0; i < before; i++) others.push(await trigger(durably, 'worker'))
    const killer = await trigger(durably, 'killer')
    for (let i = before; i < 4; i++) others.push(await trigger(durably, 'worker'))
    for (let worker = 0; worker < 8; worker++) {
      openWorker(here).durably.start()
      await env.advance(TAKEN_BACK_MS)
    }
    await env.advance(8 * STEP_MS)
    expect(await durably.getRun(killer)).toMatchObject({ status: 'failed', reason: 'crash_loop' })
    for (const id of others) expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('nothing starts beside it until it has recorded a step', async () => {
    const here = await setupWithJobs(world)
    const { durably, env } = here
    const id = await onLastChance(here)
    const { durably: worker, heard } = openWorker(here)
    worker.start()
    await env.advance(1000)
    const next = await trigger(durably, 'worker')
    await env.advance(STEP_MS - 2000)
    expect(ofType(heard, 'run:start').map(({ runId }) => runId)).toEqual([id])
    await env.advance(STEP_MS)
    expect(ofType(heard, 'run:start').map(({ runId }) => runId)).toEqual([id, next])
    await env.advance(3 * STEP_MS)
    expect(await durably.getRuns({ status: 'completed' })).toHaveLength(2)
  })

  test('a worker that has others gives it back, and takes no more until it has room for it', async () => {
    const here = await setupWithJobs(world)
    const { durably, env } = here
    const id = await onLastChance(here)
    const before = [await trigger(durably, 'worker'), await trigger(durably, 'worker')]
    const { durably: worker, heard } = openWorker(here)
    worker.start()
    await env.advance(1000)
    expect(typesOf(heard.filter(({ runId }) => runId === id))).toEqual(['run:release'])
    const after = await trigger(durably, 'worker')
    await env.advance(2 * STEP_MS + 2000)
    expect(ofType(heard, 'run:start').map(({ runId }) => runId)).toEqual([...before, id])
    await env.advance(6 * STEP_MS)
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
    expect(await durably.getRun(after)).toMatchObject({ status: 'completed' })
  })

  test('after a lease it starts beside runs that do not end, and others start beside it', async () => {
    const here = await setupWithJobs(world)
    const { durably, env } = here
    const id = await onLastChance(here)
    const before = await trigger(durably, 'endless')
    const { durably: worker, heard } = openWorker(here)
    worker.start()
    await env.advance(1000)
    const after = await trigger(durably, 'endless')
    await env.advance(LEASE_MS - 5000)
    expect(ofType(heard, 'run:start').map(({ runId }) => runId)).toEqual([before])
    await env.advance(10_000)
    expect(new Set(ofType(heard, 'run:start').map(({ runId }) => runId))).toEqual(new Set([before, id, after]))
  })

  test('a run that is alone and records nothing lets others start after a lease', async () => {
    const here = await setupWithJobs(world)
    const { durably, env } = here
    const id = await onLastChance(here, 'endless')
    const { durably: worker, heard } = openWorker(here)
    worker.start()
    await env.advance(1000)
    const next = await trigger(durably, 'worker')
    await env.advance(LEASE_MS - 5000)
    expect(ofType(heard, 'run:start').map(({ runId }) => runId)).toEqual([id])
    await env.advance(10_000)
    expect(ofType(heard, 'run:start').map(({ runId }) => runId)).toEqual([id, next])
  })

  test('processOne executes it, too', async () => {
    const here = await setupWithJobs(world)
    const id = await onLastChance(here)
    const { durably: worker } = openWorker(here)
    const processed = worker.processOne()
    await here.env.advance(3 * STEP_MS)
    expect(await processed).toBe(true)
    expect(await here.durably.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
  })
})
