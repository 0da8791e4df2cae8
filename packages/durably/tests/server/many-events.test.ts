// GET /events?run=…: the logs of several runs over one connection, each from its own place.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { RunLogEvent } from '../../src/index.ts'
import { faulty } from '../engine/faulty-store.ts'
import { logOf } from '../engine/run-log.ts'
import { WORLDS } from '../engine/world.ts'
import { Heard } from './sse.ts'
import { refused, request, served, wire } from './world.ts'

async function streaming(...args: Parameters<typeof served>) {
  const world = await served(...args)
  const open = async (runs: string[]) =>
    new Heard(await world.handler(request('GET', `/events?${runs.map((run) => `run=${run}`).join('&')}`)))
  return { ...world, open }
}

/** What was told of one run, its end included. */
function of(heard: Heard, runId: string) {
  return heard.told.filter(({ data }) => (data as { runId: string }).runId === runId)
}

describe.each(WORLDS)('many runs over one connection (%s)', (name) => {
  test('each is sent to its end, byte for byte, from its own cursor; then the connection closes', async () => {
    const { open, durably, job, store, soon, env } = await streaming(name)
    const runs = await job.batchTrigger(Array.from({ length: 20 }, (_, to) => ({ payload: { to } })))
    await soon(durably.processUntilIdle({ deadline: env.wall() + 1e9 }))
    const late = await job.trigger({ to: 'late' })
    const heard = await open([...runs.map(({ id }, i) => `${id}:${i % 4}`), late.id])
    const whole = heard.all()
    await env.idle()
    expect(heard.ended).toBe(false)
    await soon(durably.processUntilIdle())
    await soon(whole)
    for (const [i, { id }] of [...runs, late].entries()) {
      const log = await logOf(store, id)
      const expected = log.slice(i < 20 ? i % 4 : 0).map((event) => wire.encode(event, 'event'))
      const told = of(heard, id)
      expect(told.slice(0, -1).map(({ text }) => text)).toStrictEqual(expected)
      expect(told.at(-1)).toMatchObject({ event: 'done', data: { runId: id, status: 'completed' } })
    }
    expect(heard.told.every(({ id }) => id === undefined)).toBe(true)
  })

  test('one that ended, is not there, or may not be seen does not stop the others', async () => {
    const { open, durably, job, another, env, within } = await streaming(name, {
      authorize: (_, __, run) => (run?.payload as { to: string } | undefined)?.to !== 'secret',
    })
    const [ended, secret, deleted, live] = await job.batchTrigger(['ended', 'secret', 'deleted', 'live'].map((to) => ({ payload: { to } })))
    const id = (run: { id: string } | undefined) => run?.id ?? ''
    await durably.cancel(id(ended))
    const heard = await open([`${id(ended)}:2`, id(secret), 'nobody', '%00', id(deleted), id(live)])
    const whole = heard.all()
    await env.idle()
    await another().cancel(id(deleted))
    await another().deleteRun(id(deleted))
    await env.advance(1500)
    expect(of(heard, id(ended))).toMatchObject([{ event: 'done', data: { status: 'cancelled' } }])
    for (const gone of [id(secret), 'nobody', '\0']) expect(of(heard, gone)).toMatchObject([{ event: 'gone' }])
    expect(of(heard, id(deleted)).at(-1)).toMatchObject({ event: 'gone' })
    expect(heard.ended).toBe(false)
    await durably.cancel(id(live))
    await within(3000, whole)
    expect(of(heard, id(live)).at(-1)).toMatchObject({ event: 'done', data: { status: 'cancelled' } })
  })
})

test('one may be withdrawn while the others go on', async () => {
  const denied = new Set<string>()
  const { open, job, env, handler } = await streaming('memory', { authorize: (_, __, run) => !denied.has(run?.id ?? '') })
  const [a, b] = [await job.trigger({ to: 1 }), await job.trigger({ to: 2 })]
  const heard = await open([a.id, b.id])
  heard.all()
  await env.advance(3000)
  denied.add(a.id)
  await env.advance(1000)
  expect(of(heard, a.id).map(({ event }) => event)).toStrictEqual(['message', 'gone'])
  expect(of(heard, b.id).map(({ event }) => event)).toStrictEqual(['message'])
  denied.add(b.id)
  await env.advance(1000)
  expect(heard).toMatchObject({ ended: true, names: ['message', 'message', 'gone', 'gone'] })
  expect(handler.openStreams).toBe(0)
})

test('of all logs together one page is held, and each has its turn', async () => {
  const { wrap, faults } = faulty()
  const { open, durably, soon, env } = await streaming('memory', {}, { wrap })
  const long = durably.defineJob({ name: 'long', input: z.unknown() }, async (ctx) => {
    for (let i = 0; i < 250; i++) await ctx.run(`step ${i}`, () => i)
  })
  const runs = await long.batchTrigger(Array.from({ length: 5 }, () => ({ payload: {} })))
  for (let i = 0; i < 5; i++) await soon(durably.processOne())
  const heard = await open(runs.map(({ id }) => id))
  faults.calls.length = 0
  for (let page = 1; page <= 5; page++) {
    await soon(heard.until(({ told }) => told.length === page * 100))
    await env.advance(60_000)
    expect(faults.count('events.list')).toBe(page)
  }
  expect(new Set(heard.told.map(({ data }) => (data as RunLogEvent).runId)).size).toBe(5)
  await heard.leave()
})

test('what cannot be followed is refused', async () => {
  const { call, job } = await streaming('memory')
  const { id } = await job.trigger({ to: 1 })
  const many = Array.from({ length: 101 }, (_, i) => `run=${i}`).join('&')
  expect(await call('GET', `/events?${many}`)).toMatchObject(refused(400, 'invalid_argument', 'at most 100'))
  expect(await call('GET', `/events?run=${id}&run=${id}:1`)).toMatchObject(refused(400, 'invalid_argument', 'twice'))
  expect(await call('GET', `/events?run=${id}:7`)).toMatchObject(refused(409, 'cursor_ahead'))
})
