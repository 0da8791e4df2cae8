// Jobs of other processes: triggered by name, checked by what their workers said of them, and by the workers.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cluster } from '../../src/cluster.ts'
import type { Durably } from '../../src/durably.ts'
import { faulty } from './faulty-store.ts'
import { gate } from './gate.ts'
import { setup, WORLDS } from './world.ts'

const month = z.object({
  month: z.string().regex(/^\d{4}-\d\d$/),
  copies: z.number().int().min(1).default(1),
  note: z.string().meta({ format: 'date' }).optional(),
})

function defineReport(durably: Durably, got: unknown[] = []): unknown[] {
  durably.defineJob({ name: 'report', input: month }, async (_, payload) => void got.push(payload))
  return got
}

describe.each(WORLDS)('jobs of other processes on %s', (world) => {
  test('a run of a job that nobody has spoken of waits for a worker, which checks its input', async () => {
    const { durably, another, soon } = await setup(world)
    const good = await durably.trigger('report', { month: '2030-01' }, { labels: { tenant: 'acme' }, concurrencyKey: 'k' })
    const bad = await durably.trigger('report', { month: 1 })
    expect(good).toMatchObject({ jobName: 'report', status: 'pending', labels: { tenant: 'acme' }, concurrencyKey: 'k' })
    expect(await durably.explain(good.id)).toMatchObject({ cause: 'unknown job' })
    const worker = another()
    const got = defineReport(worker)
    await soon(worker.processUntilIdle())
    expect(got).toEqual([{ month: '2030-01', copies: 1 }])
    expect(await durably.getRun(bad.id)).toMatchObject({ status: 'failed', reason: 'invalid_input', failure: { code: 'invalid_input' } })
  })

  test('what a worker has published is checked at once', async () => {
    const { durably, another, soon } = await setup(world)
    const worker = another({ publishJobs: true })
    const got = defineReport(worker)
    await soon(worker.processUntilIdle())
    const refused = (input: unknown, message: string) =>
      expect(durably.trigger('report', input)).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(message) })
    await refused({ month: 1 }, 'month: ')
    await refused({ month: '2030' }, 'month: ')
    await refused({ month: '2030-01', copies: 0 }, 'copies: ')
    await refused({}, 'input of job "report": ')
    await refused('text', 'input of job "report": ')
    expect(await durably.getRuns()).toEqual([])
    // In JSON Schema a format is a remark. The worker knows better.
    await durably.trigger('report', { month: '2030-01', copies: undefined, note: 'tomorrow' })
    await soon(worker.processUntilIdle())
    expect(got).toEqual([{ month: '2030-01', copies: 1, note: 'tomorrow' }])
  })

  test('a job of this process is triggered as by its handle', async () => {
    const { durably, soon } = await setup(world)
    const got = defineReport(durably)
    await expect(durably.trigger('report', { month: 1 })).rejects.toMatchObject({ code: 'invalid_input' })
    const first = await durably.trigger('report', { month: '2030-01' }, { idempotencyKey: 'k' })
    expect(first.payload).toEqual({ month: '2030-01', copies: 1 })
    expect((await durably.trigger('report', { month: '2030-01' }, { idempotencyKey: 'k' })).id).toBe(first.id)
    await soon(durably.processUntilIdle())
    expect(got).toHaveLength(1)
  })

  test('a run that was checked by the worker is checked again when it is resumed', async () => {
    const { durably, another, env } = await setup(world)
    const { id } = await durably.trigger('report', { month: '2030-01' })
    const worker = another()
    const seen: unknown[] = []
    worker.defineJob({ name: 'report', input: month }, async (ctx, payload) => {
      seen.push(payload)
      await ctx.sleep('a while', '1h')
      return payload
    })
    worker.start()
    await env.advance(3_700_000)
    expect(seen).toEqual([
      { month: '2030-01', copies: 1 },
      { month: '2030-01', copies: 1 },
    ])
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: { month: '2030-01', copies: 1 } })
  })

  test('definitions are listed, read and forgotten', async () => {
    const { durably, another, env, soon } = await setup(world)
    const worker = another({ publishJobs: true })
    defineReport(worker)
    worker.defineJob({ name: 'any', input: z.date(), on: { event: 'a', filter: { b: 1 } } }, async () => {})
    await soon(worker.processUntilIdle())
    const { definitions } = durably
    const any = {
      name: 'any',
      input: null,
      on: [{ event: 'a', filter: { b: 1 } }],
      version: 1,
      updatedAt: new Date(env.wall()).toISOString(),
    }
    expect(await definitions.list()).toEqual([any, expect.objectContaining({ name: 'report', on: [] })])
    expect(await definitions.list({ limit: 1 })).toEqual([any])
    expect(await definitions.list({ limit: 1, cursor: 'any' })).toMatchObject([{ name: 'report' }])
    expect((await definitions.get('report'))?.input).toMatchObject({ type: 'object', required: ['month'] })
    await definitions.delete('report')
    expect(await definitions.get('report')).toBeNull()
    await expect(definitions.delete('report')).rejects.toMatchObject({ code: 'job_not_found' })
    await expect(definitions.get('')).rejects.toMatchObject({ code: 'invalid_name' })
  })

  test('a schema that the validator cannot read refuses nothing', async () => {
    const { durably, store } = await setup(world)
    await store.cluster?.putDefinitions([{ name: 'report', input: '{"pattern":"(","type":"string"}', subscriptions: null }])
    expect(await durably.trigger('report', 'text')).toMatchObject({ status: 'pending' })
    await store.cluster?.putDefinitions([{ name: 'report', input: '{', subscriptions: null }])
    expect(await durably.trigger('report', 'text')).toMatchObject({ status: 'pending' })
  })

  test('inside a transaction nothing is looked up, and the run exists if it commits', async () => {
    if (world === 'memory') return
    const { faults, wrap } = faulty()
    const { durably, soon } = await setup(world, { wrap })
    const job = durably.defineJob({ name: 'sender', input: z.null() }, (ctx) =>
      ctx.transaction('write', async (tx) => void (await durably.trigger('report', { month: 1 }, { tx }))),
    )
    await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRuns({ jobName: 'report' })).toMatchObject([{ status: 'pending' }])
    expect(faults.calls).not.toContain('cluster.findDefinitions')
    durably.defineJob({ name: 'without tx', input: z.null() }, (ctx) =>
      ctx.transaction('write', async () => void (await durably.trigger('report', 1))),
    )
    const { id } = await durably.trigger('without tx', null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ failure: { code: 'transaction_open' } })
  })

  test('runs of jobs that this process does not define are counted once they have waited', async () => {
    const { durably, env } = await setup(world)
    defineReport(durably)
    await durably.trigger('report', { month: '2030-01' })
    await durably.trigger('later', 1, { delay: '1h' })
    const since = new Date(env.wall()).toISOString()
    await durably.trigger('other', 1)
    await env.advance(1000)
    await durably.trigger('other', 2)
    await durably.trigger('third', 1)
    await env.advance(4500)
    expect(await durably.unknownJobs()).toEqual([{ jobName: 'other', dueRuns: 2, dueSince: since, lagMs: 5500 }])
    await env.advance(500)
    expect((await durably.unknownJobs()).map(({ jobName }) => jobName)).toEqual(['other', 'third'])
  })

  test('a job that a living worker of the register has is not unknown', async () => {
    const { durably, another, env } = await setup(world, { workerId: 'client' })
    const unknown = async () => (await durably.unknownJobs()).map(({ jobName }) => jobName)
    const busy = gate()
    const worker = another({ workerId: 'worker' })
    worker.defineJob({ name: 'elsewhere', input: z.unknown() }, (ctx) => ctx.run('wait', () => busy.opened))
    const fleet = cluster(worker)
    worker.start()
    await env.advance(2000)
    for (const name of ['elsewhere', 'elsewhere', 'nowhere']) await durably.trigger(name, 1)
    await env.advance(6000)
    expect(await unknown()).toEqual(['nowhere'])
    await fleet.drain('worker')
    expect(await unknown()).toEqual(['elsewhere', 'nowhere'])
    await fleet.attach('worker')
    expect(await unknown()).toEqual(['nowhere'])
    busy.open()
  })

  test('bad names and options are refused', async () => {
    const { durably } = await setup(world)
    await expect(durably.trigger('', 1)).rejects.toMatchObject({ code: 'invalid_name' })
    await expect(durably.trigger('a', 1, { key: 'k' } as never)).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})
