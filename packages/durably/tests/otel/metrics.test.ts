import { DataPointType } from '@opentelemetry/sdk-metrics'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { retry } from '../../src/model/retry-policy.ts'
import { setup, WORLDS } from '../engine/world.ts'
import { telemetry } from './telemetry.ts'

const anything = z.unknown()

test.each(WORLDS)('runs and steps are counted and timed, and the age of the queue is observed on %s', async (world) => {
  const { durably, env, within } = await setup(world)
  const { plugin, collect } = telemetry()
  durably.use(plugin())
  let calls = 0
  const policy = retry.fixed({ maxAttempts: 2 })
  const flaky = durably.defineJob({ name: 'flaky', input: anything, retry: policy }, (ctx) =>
    ctx.run('call', async () => {
      await new Promise<void>((resolve) => void env.timer(700, resolve))
      if (++calls === 1) throw new Error('no')
    }),
  )
  await flaky.trigger(null)
  await within(10_000, durably.processUntilIdle())
  const last = await flaky.trigger(null)
  await env.advance(3000)
  const figures = new Map((await collect()).map((metric) => [metric.descriptor.name, metric]))
  const value = (name: string) => figures.get(name)?.dataPoints.map((point) => [point.attributes, point.value])
  expect(value('durably.run.starts')).toEqual([[{ job: 'flaky' }, 2]])
  expect(value('durably.run.retries')).toEqual([[{ job: 'flaky' }, 1]])
  expect(value('durably.runs.completed')).toEqual([[{ job: 'flaky' }, 1]])
  expect(value('durably.steps.failed')).toEqual([[{ job: 'flaky' }, 1]])
  expect(value('durably.store.up')).toEqual([[{}, 1]])
  expect(value('durably.oldest_due')).toEqual([[{}, 3]])
  const duration = figures.get('durably.run.duration')
  expect(duration).toMatchObject({ descriptor: { unit: 's' }, dataPointType: DataPointType.HISTOGRAM })
  expect(duration?.dataPoints[0]?.value).toMatchObject({ count: 1, sum: expect.closeTo(1.4, 1) })
  await durably.cancel(last.id)
})
