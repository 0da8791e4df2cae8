// confirmFor: a worker that is cut off for longer than a lease keeps its run while it may come back, and gives it up by its own clocks.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const CUT = ['runs.probe', 'runs.claim', 'runs.reap', 'runs.get', 'apply.heartbeat', 'apply.recordStep', 'apply.complete'] as const

describe.each(WORLDS)('on %s', (world) => {
  async function cutOff(confirmFor: '1m' | 0, setBackMs = 0) {
    const line = faulty()
    const { durably, another, env, store } = await setup(world, { wrap: line.wrap, confirmFor, workerId: 'first' })
    const answer = gate<string>()
    const aborted: { at: number; reason: unknown }[] = []
    const define = (instance: typeof durably) =>
      instance.defineJob({ name: 'job', input: anything }, (ctx) =>
        ctx.run('ask', async ({ signal }) => {
          signal.addEventListener('abort', () => aborted.push({ at: env.mono(), reason: signal.reason }))
          return answer.opened
        }),
      )
    const { id } = await define(durably).trigger(null)
    durably.start()
    await env.advance(1000)
    env.jump(-setBackMs)
    if (setBackMs > 0) await env.advance(30_000)
    for (const call of CUT) line.faults.fail(call, { when: 'before', times: Number.POSITIVE_INFINITY })
    const other = another({ workerId: 'second' })
    define(other)
    other.start()
    return { durably, other, env, store, id, answer, aborted, heal: () => line.faults.heal() }
  }

  test('it comes back in time: the run was never taken, and is not begun again', async () => {
    const { other, env, id, answer, aborted, heal } = await cutOff('1m')
    await env.advance(60_000)
    expect(await other.getRun(id)).toMatchObject({ phase: 'confirming', workerId: 'first', recoveries: 0 })
    const explained = await other.explain(id)
    expect(explained.text).toMatch(/held by worker "first", which is silent and may come back until /)
    answer.open('yes')
    await env.advance(1000)
    heal()
    await env.advance(10_000)
    expect(await other.getRun(id)).toMatchObject({ status: 'completed', output: 'yes', workerId: 'first', recoveries: 0 })
    expect(aborted).toEqual([])
    const starts: (string | null)[] = []
    for await (const event of other.subscribe(id)) if (event.type === 'run:start') starts.push(event.workerId)
    expect(starts).toEqual(['first'])
  })

  test('it does not come back: it gives the run up by its own clocks before another worker has it', async () => {
    const { other, env, id, answer, aborted } = await cutOff('1m')
    const startedAt = gate<number>()
    other.on('run:start', () => startedAt.open(env.mono()))
    await env.advance(85_000)
    expect(await other.getRun(id)).toMatchObject({ phase: 'confirming', workerId: 'first' })
    expect(aborted).toEqual([])
    await env.advance(10_000)
    expect(await other.getRun(id)).toMatchObject({ status: 'running', workerId: 'second', recoveries: 1 })
    expect(aborted[0]?.reason).toMatchObject({
      code: 'lease_lost',
      message: expect.stringContaining('90000 ms (staleThreshold and confirmFor)'),
    })
    expect(aborted[0]?.at).toBeLessThanOrEqual(await startedAt.opened)
    answer.open('yes')
    await env.advance(1000)
    expect(await other.getRun(id)).toMatchObject({ status: 'completed', workerId: 'second' })
  })

  test('its explanation says when the run goes on, also after the clock of the store was set back', async () => {
    const { other, env, id, answer } = await cutOff('1m', 300_000)
    await env.advance(60_000)
    const { cause, remedy } = await other.explain(id)
    expect(cause).toBe('confirming')
    const inMs = Date.parse((remedy.do === 'wait' && remedy.until) || '') - env.wall()
    await env.advance(inMs - 2000)
    expect(await other.getRun(id)).toMatchObject({ status: 'pending', recoveries: 1 })
    await env.advance(5000)
    expect(await other.getRun(id)).toMatchObject({ status: 'running', workerId: 'second' })
    answer.open('yes')
    await env.advance(1000)
  })

  test('without confirmFor another worker has the run after one lease', async () => {
    const { other, env, id } = await cutOff(0)
    await env.advance(40_000)
    expect(await other.getRun(id)).toMatchObject({ phase: 'running', workerId: 'second', recoveries: 1 })
  })
})

test('a time that is too long is refused, with both options named', async () => {
  await expect(setup('memory', { confirmFor: '24h' })).rejects.toMatchObject({
    code: 'invalid_config',
    message: 'confirmFor (86400000 ms) and staleThreshold (30000 ms) must be at most 24 hours together',
  })
})
