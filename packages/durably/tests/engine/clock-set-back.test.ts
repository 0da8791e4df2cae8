// What becomes of the order of runs when the clock of their process is set back. On Postgres: tests/postgres/engine.test.ts.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup, WORLDS } from './world.ts'

const HOUR = 3_600_000

describe.each(WORLDS)('a clock that is set back on %s', (world) => {
  async function triggerAround(setBackMs: number) {
    const { durably, env, soon } = await setup(world)
    const executed: string[] = []
    const job = durably.defineJob({ name: 'job', input: z.string() }, async (_, name) => void executed.push(name))
    const a = await job.trigger('a')
    env.jump(-setBackMs)
    const b = await job.trigger('b')
    return { durably, env, soon, executed, job, a, b }
  }

  test('ids and creation times do not go back, and lists keep the order of creation (000 §Run の取得)', async () => {
    const { job, a, b } = await triggerAround(HOUR)
    expect(b.id > a.id).toBe(true)
    expect(b.createdAt >= a.createdAt).toBe(true)
    expect((await job.getRuns()).map(({ payload }) => payload)).toEqual(['b', 'a'])
    expect((await job.getRuns({ cursor: b.id })).map(({ payload }) => payload)).toEqual(['a'])
  })

  test('a new run is due at once; one from before is due when the clock shows its time again', async () => {
    const { durably, env, soon, executed } = await triggerAround(HOUR)
    await soon(durably.processUntilIdle())
    expect(executed).toEqual(['b'])
    await env.advance(HOUR - 1)
    await soon(durably.processUntilIdle())
    expect(executed).toEqual(['b'])
    await env.advance(1)
    await soon(durably.processUntilIdle())
    expect(executed).toEqual(['b', 'a'])
  })
})
