import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Plugin } from '../../src/plugin.ts'
import { gate } from './gate.ts'
import { setup, WORLDS, type World } from './world.ts'

const anything = z.unknown()

/** What a user could write: a step that takes too long fails. */
function withTimeout(env: World['env'], ms: number): Plugin {
  return {
    name: 'timeout',
    install(host) {
      host.wrapStep(async (step, next) => {
        let timer: unknown
        const late = new Promise<never>((_, reject) => {
          timer = env.timer(ms, () => reject(new Error(`step ${step.stepName} of ${step.jobName} took longer than ${ms} ms`)))
        })
        return Promise.race([next(), late]).finally(() => env.clear(timer))
      })
    },
  }
}

describe.each(WORLDS)('plugins on %s', (world) => {
  test('a withTimeout can be written outside of the core (000 §プラグインシステム)', async () => {
    const { durably, env, within } = await setup(world)
    durably.use(withTimeout(env, 1000))
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      const quick = await ctx.run('quick', () => 'in time')
      await ctx.run('slow', () => new Promise<void>(() => {}))
      return quick
    })
    const { id } = await job.trigger(null)
    await within(1100, durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({
      status: 'failed',
      error: 'step slow of job took longer than 1000 ms',
      currentStepIndex: 1,
    })
    expect(await durably.getSteps(id)).toMatchObject([
      { name: 'quick', output: 'in time' },
      { name: 'slow', status: 'failed' },
    ])
  })

  test('the first wrapper is the outermost, each gets the facts about the step, and may change what it returns', async () => {
    const { durably, soon } = await setup(world)
    const order: string[] = []
    const wrapper = (label: string): Plugin => ({
      name: label,
      install: (host) =>
        host.wrapStep(async ({ stepName, stepIndex }, next) => {
          order.push(`${label} before ${stepName} ${stepIndex}`)
          const value = await next()
          order.push(`${label} after ${stepName}`)
          return `${label}(${value})`
        }),
    })
    durably.use(wrapper('outer')).use(wrapper('inner'))
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('step', () => 'value'))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(order).toEqual(['outer before step 0', 'inner before step 0', 'inner after step', 'outer after step'])
    expect(await job.getRun(id)).toMatchObject({ output: 'outer(inner(value))' })
  })

  test('a wrapper does not see steps that are skipped', async () => {
    const { durably, soon } = await setup(world)
    const seen: string[] = []
    durably.use({
      name: 'watch',
      install: (host) =>
        host.wrapStep((step, next) => {
          seen.push(step.stepName)
          return next()
        }),
    })
    let broken = true
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.run('one', () => 1)
      if (broken) throw new Error('once')
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    broken = false
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    expect(seen).toEqual(['one'])
  })

  test('a wrapper that throws fails the step like the step itself', async () => {
    const { durably, soon } = await setup(world)
    durably.use({
      name: 'broken',
      install: (host) =>
        host.wrapStep(() => {
          throw new Error('a broken plugin')
        }),
    })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.run('step', () => 1))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ status: 'failed', error: 'a broken plugin' })
  })

  test('a plugin hears events and the errors of listeners, and the signal of a step', async () => {
    const { durably, env, soon } = await setup(world)
    const heard: string[] = []
    const aborted = gate<unknown>()
    durably.use({
      name: 'report',
      install(host) {
        host.on('run:cancel', () => void heard.push('run:cancel'))
        host.onError((error) => void heard.push((error as Error).message))
        host.wrapStep((step, next) => {
          step.signal.addEventListener('abort', () => aborted.open(step.signal.reason))
          return next()
        })
      },
    })
    durably.on('run:start', () => {
      throw new Error('a bad listener')
    })
    const job = durably.defineJob({ name: 'job', input: anything }, (ctx) =>
      ctx.run('step', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
    )
    const { id } = await job.trigger(null)
    durably.start()
    await env.advance(10)
    await durably.cancel(id)
    expect(await soon(aborted.opened)).toMatchObject({ code: 'cancel_requested' })
    await env.idle()
    expect(heard).toEqual(['a bad listener', 'run:cancel'])
  })
})
