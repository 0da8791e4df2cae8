import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()

describe.each(WORLDS)('steps on %s', (world) => {
  test('a completed step is skipped on resume and gives its recorded value (001 §再開時)', async () => {
    const mortal = faulty()
    const { durably, another, within, env } = await setup(world, { wrap: mortal.wrap })
    const ran: string[] = []
    const secondStep = gate()
    const define = (instance: typeof durably, whoIsIt: string) =>
      instance.defineJob({ name: 'resume', input: anything }, async (ctx) => {
        const first = await ctx.run('fetch', () => {
          ran.push(`fetch by ${whoIsIt}`)
          return { from: whoIsIt }
        })
        await ctx.run('process', () => {
          ran.push(`process by ${whoIsIt}`)
          if (whoIsIt === 'the first') secondStep.open()
          return whoIsIt === 'the first' ? new Promise<void>(() => {}) : undefined
        })
        return first
      })
    const job = define(durably, 'the first')
    const { id } = await job.trigger(null)
    durably.start()
    await within(1000, secondStep.opened)
    mortal.faults.die()

    const heir = another()
    define(heir, 'the second')
    heir.start()
    await env.advance(31_000)

    expect(ran).toEqual(['fetch by the first', 'process by the first', 'process by the second'])
    expect(await heir.getRun(id)).toMatchObject({ status: 'completed', output: { from: 'the first' }, currentStepIndex: 2 })
  })

  test('retry() skips completed steps and runs the failed one again (000 §失敗と再実行)', async () => {
    const { durably, soon } = await setup(world)
    const ran: string[] = []
    let broken = true
    const job = durably.defineJob({ name: 'retry', input: anything }, async (ctx) => {
      const value = await ctx.run('one', () => {
        ran.push('one')
        return ran.length
      })
      await ctx.run('two', () => {
        ran.push('two')
        if (broken) throw new Error('not yet')
      })
      return value
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    broken = false
    expect((await durably.retry(id)).status).toBe('pending')
    await soon(durably.processUntilIdle())

    expect(ran).toEqual(['one', 'two', 'two'])
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 1, error: null, reason: null })
  })

  test('failed step rows are kept after a retry', async () => {
    const { durably, soon } = await setup(world)
    let failures = 2
    const job = durably.defineJob({ name: 'flaky', input: anything }, async (ctx) => {
      await ctx.run('flaky', () => {
        if (failures-- > 0) throw new Error(`failure ${failures}`)
      })
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    await soon(durably.processUntilIdle())

    const steps = await durably.getSteps(id)
    expect(steps.map(({ name, index, status, error }) => ({ name, index, status, error }))).toEqual([
      { name: 'flaky', index: 0, status: 'failed', error: 'failure 1' },
      { name: 'flaky', index: 0, status: 'failed', error: 'failure 0' },
      { name: 'flaky', index: 0, status: 'completed', error: null },
    ])
  })

  test('two steps of one name are an error (000 §ジョブとステップ)', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'twice', input: anything }, async (ctx) => {
      await ctx.run('same', () => 1)
      await ctx.run('same', () => 2)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    expect(await job.getRun(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'duplicate_step', message: expect.stringMatching(/^step "same" .*; give each step its own name$/) },
    })
    expect(await durably.getSteps(id)).toMatchObject([{ name: 'same', status: 'completed', output: 1 }])
  })

  test('a duplicate name is an error on a resumed run too', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'twice', input: anything }, async (ctx) => {
      await ctx.run('same', () => 1)
      await ctx.run('same', () => 2)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    await soon(durably.processUntilIdle())

    expect(await job.getRun(id)).toMatchObject({ status: 'failed', failure: { code: 'duplicate_step' }, currentStepIndex: 1 })
  })

  test('a step error that the job catches does not fail the run, and the step runs again on resume', async () => {
    const { durably, soon } = await setup(world)
    const ran: string[] = []
    const job = durably.defineJob({ name: 'forgiving', input: anything }, async (ctx) => {
      const answer = await ctx
        .run('maybe', () => {
          ran.push('maybe')
          throw new Error('no')
        })
        .catch((error: Error) => error.message)
      await ctx.run('after', () => {
        ran.push('after')
        if (ran.length < 3) throw new Error('again')
      })
      return answer
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await durably.retry(id)
    await soon(durably.processUntilIdle())

    expect(ran).toEqual(['maybe', 'after', 'maybe', 'after'])
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 'no' })
  })

  test('steps keep the order of their calls as index, and currentStepIndex counts the completed ones (000 §スキーマ)', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'count', input: anything }, async (ctx) => {
      for (const name of ['a', 'b', 'c']) await ctx.run(name, () => name)
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())

    expect((await durably.getSteps(id)).map(({ name, index }) => `${index}${name}`)).toEqual(['0a', '1b', '2c'])
    expect(await durably.getRun(id)).toMatchObject({ currentStepIndex: 3 })
  })

  test('a run of a thousand steps completes, and resumes without running one of them again', async () => {
    const { durably, soon } = await setup(world)
    let ran = 0
    let broken = true
    const job = durably.defineJob({ name: 'long', input: anything }, async (ctx) => {
      let sum = 0
      for (let i = 0; i < 1000; i++) {
        sum += await ctx.run(`step ${i}`, () => {
          ran++
          return i
        })
      }
      if (broken) throw new Error('at the very end')
      return sum
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    broken = false
    await durably.retry(id)
    await soon(durably.processUntilIdle())

    expect(ran).toBe(1000)
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: 499_500, currentStepIndex: 1000 })
  })

  test('ctx has the id of its run, and a skipped step emits nothing', async () => {
    const { durably, soon } = await setup(world)
    const heard = listenTo(durably)
    let broken = true
    const job = durably.defineJob({ name: 'who', input: anything }, async (ctx) => {
      await ctx.run('id', () => null)
      if (broken) throw new Error('once')
      return ctx.runId
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    broken = false
    await durably.retry(id)
    await soon(durably.processUntilIdle())

    expect(await job.getRun(id)).toMatchObject({ output: id })
    expect(ofType(heard, 'step:start')).toHaveLength(1)
    expect(ofType(heard, 'step:complete')).toHaveLength(1)
  })
})
