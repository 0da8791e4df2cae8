// A job may declare the signals that it waits for: then a wrong name or a wrong value is refused where it is sent.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { allowAll, durablyHandler } from '../../src/server/index.ts'
import { faulty } from './faulty-store.ts'
import { setup, WORLDS } from './world.ts'

const anything = z.unknown()
const approval = z.object({ ok: z.boolean(), at: z.coerce.date() })

describe.each(WORLDS)('declared signals on %s', (world) => {
  test('the run gets what the declared schema makes of the value', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, signals: { approval } }, (ctx) => ctx.waitFor('approval'))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    await job.signal(id, 'approval', { ok: true, at: '2030-01-01' })
    await soon(durably.processUntilIdle())
    expect(await job.getRun(id)).toMatchObject({ status: 'completed', output: { ok: true, at: new Date('2030-01-01') } })
  })

  test('a name that is not declared, and a value that does not fit, are refused at the sender; the right one can follow', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, signals: { approval, refusal: z.string() } }, (ctx) =>
      ctx.waitFor('approval'),
    )
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const typo = { code: 'invalid_name', message: 'job "job" declares no signal "aproval"; did you mean "approval"?' }
    await expect(durably.signal(id, 'aproval', { ok: true, at: 0 })).rejects.toMatchObject(typo)
    await expect(job.signal(id, 'aproval' as never, { ok: true, at: 0 } as never)).rejects.toMatchObject(typo)
    const misfit = { code: 'invalid_input', message: expect.stringContaining('signal "approval": ok: ') }
    await expect(durably.signal(id, 'approval', { ok: 'yes', at: 0 })).rejects.toMatchObject(misfit)
    await expect(job.signal(id, 'approval', { ok: 'yes' } as never)).rejects.toMatchObject(misfit)
    expect(await durably.getSignals(id)).toEqual([])
    await durably.signal(id, 'approval', { ok: true, at: 0 })
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed' })
  })

  test('over HTTP, too', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, signals: { approval } }, (ctx) => ctx.waitFor('approval'))
    const { id } = await job.trigger(null)
    const handle = durablyHandler(durably, { authorize: allowAll() })
    const send = (name: string, value: unknown) =>
      handle(
        new Request(`http://localhost/runs/${id}/signals/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ value }),
        }),
      )
    expect((await send('aproval', {})).status).toBe(400)
    expect((await send('approval', {})).status).toBe(400)
    expect((await send('approval', { ok: true, at: 0 })).status).toBe(202)
  })

  test('a run that is one of another job gets no signal through the handle', async () => {
    const { durably } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, signals: { approval } }, (ctx) => ctx.waitFor('approval'))
    const other = durably.defineJob({ name: 'other', input: anything }, (ctx) => ctx.waitFor('approval'))
    const { id } = await other.trigger(null)
    await expect(job.signal(id, 'approval', { ok: true, at: 0 })).rejects.toMatchObject({
      code: 'run_not_found',
      message: `run ${id} is one of job "other", not of "job"`,
    })
    await other.signal(id, 'approval', 'anything')
    await expect(durably.signal('no such run', 'approval', 1)).rejects.toMatchObject({ code: 'run_not_found' })
    expect(await durably.getSignals(id)).toMatchObject([{ name: 'approval', value: 'anything' }])
  })

  test('a job that waits for a signal that it does not declare fails and says so', async () => {
    const { durably, soon } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything, signals: { approval } }, (ctx) => ctx.waitFor('aproval' as never))
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    expect(await durably.getRun(id)).toMatchObject({
      status: 'failed',
      error: 'job "job" declares no signal "aproval"; did you mean "approval"?',
    })
  })

  test('a declaration that is no schema is refused where the job is defined', async () => {
    const { durably } = await setup(world)
    expect(() => durably.defineJob({ name: 'job', input: anything, signals: { approval: {} as never } }, async () => {})).toThrow(
      'job "job": its signal "approval" must be a Standard Schema',
    )
  })

  test('where no job declares signals, sending one reads nothing', async () => {
    const { wrap, faults } = faulty()
    const { durably } = await setup(world, { wrap })
    const { id } = await durably.defineJob({ name: 'job', input: anything }, (ctx) => ctx.waitFor('approval')).trigger(null)
    faults.calls.length = 0
    await durably.signal(id, 'approval', 1)
    expect(faults.calls).toEqual(['signals.send'])
  })
})

describe.each(WORLDS)('getSignals on %s', (world) => {
  test('shows which signals the run has received, and which it never asked for', async () => {
    const { durably, env } = await setup(world)
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      await ctx.waitFor('approval')
      await ctx.waitFor('late', { timeout: 1000 }).catch(() => {})
      await ctx.sleep('nap', '1h')
    })
    const { id } = await job.trigger(null)
    durably.start()
    await durably.signal(id, 'aproval', { ok: true })
    await durably.signal(id, 'approval', undefined)
    await env.advance(5000)
    await durably.signal(id, 'late', new Date(5))
    const sent = await durably.getSignals(id)
    expect(sent.map(({ name, value, received }) => [name, value, received])).toStrictEqual([
      ['approval', undefined, true],
      ['aproval', { ok: true }, false],
      ['late', new Date(5), false],
    ])
    expect(sent.every(({ createdAt }) => !Number.isNaN(Date.parse(createdAt)))).toBe(true)
  })

  test('is empty for a run that does not exist', async () => {
    const { durably } = await setup(world)
    expect(await durably.getSignals('no such run')).toEqual([])
  })
})
