// GET /runs/:id/events: the log of a run as a stream, told once, in order, from any place, to its end.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Durably } from '../../src/durably.ts'
import { ENGINE } from '../../src/engine.ts'
import { sleep } from '../../src/model/env.ts'
import { faulty } from '../engine/faulty-store.ts'
import { gate } from '../engine/gate.ts'
import { logOf } from '../engine/run-log.ts'
import { WORLDS } from '../engine/world.ts'
import { Heard } from './sse.ts'
import { reach, read, refused, request, served, wire } from './world.ts'

async function streaming(...args: Parameters<typeof served>) {
  const world = await served(...args)
  const open = async (path: string, headers: Record<string, string> = {}) =>
    new Heard(await world.handler(request('GET', path, { headers })))
  const cut = gate()
  const slow = world.durably.defineJob({ name: 'slow', input: z.unknown() }, async (ctx) => {
    await ctx.run('before', () => 1)
    await cut.opened
    await ctx.run('after', () => 2)
  })
  return { ...world, open, slow, cut }
}

describe.each(WORLDS)('the events of a run (%s)', (name) => {
  test('are sent to the end, byte for byte as the log has them', async () => {
    const { open, durably, job, store, soon } = await streaming(name)
    const { id } = await job.trigger({ to: new Map([['you', new Date(0)]]) })
    await soon(durably.processUntilIdle())
    const heard = await soon((await open(`/runs/${id}/events`)).all())
    const log = await logOf(store, id)
    expect(heard.told.slice(0, -1).map(({ text }) => text)).toStrictEqual(log.map((event) => wire.encode(event, 'event')))
    expect(heard.told.slice(0, -1).map(({ id }) => id)).toStrictEqual(log.map(({ sequence }) => String(sequence)))
    expect(heard.told.at(-1)).toMatchObject({ event: 'done', id: undefined, data: { status: 'completed' } })
    expect(heard.asides).toStrictEqual(['retry: 1000'])
  })

  test('headers ask proxies not to buffer or cache it', async () => {
    const { handler, job } = await streaming(name)
    const { id } = await job.trigger({ to: 1 })
    const { status, headers, body } = await handler(request('GET', `/runs/${id}/events`))
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('text/event-stream')
    expect(headers.get('Cache-Control')).toContain('no-store')
    expect(headers.get('X-Accel-Buffering')).toBe('no')
    await body?.cancel()
  })

  test('come live, and go on from any cursor', async () => {
    const { open, durably, slow, cut, soon, store, env } = await streaming(name)
    const { id } = await slow.trigger({})
    const heard = await open(`/runs/${id}/events`)
    const whole = heard.all()
    durably.start()
    await env.idle()
    const before = heard.told.length
    expect(heard.told.map(({ data }) => (data as { type: string }).type)).toContain('step:complete')
    cut.open()
    await soon(whole)
    const log = await logOf(store, id)
    expect(heard.told).toHaveLength(log.length + 1)
    expect(before).toBeLessThan(log.length)
    for (const after of [1, before, log.length - 1]) {
      const byQuery = await soon((await open(`/runs/${id}/events?after=${after}`)).all())
      expect(byQuery.told.map(({ text }) => text)).toStrictEqual(heard.told.slice(after).map(({ text }) => text))
      const byHeader = await soon((await open(`/runs/${id}/events?after=1`, { 'Last-Event-ID': String(after) })).all())
      expect(byHeader.told).toStrictEqual(byQuery.told)
    }
  })

  test('204 behind the end, 409 ahead of it, 404 and 410 for a run that is not there', async () => {
    const { call, durably, job, store, soon } = await streaming(name)
    const { id } = await job.trigger({ to: 1 })
    await soon(durably.processUntilIdle())
    const { length: end } = await logOf(store, id)
    expect(await call('GET', `/runs/${id}/events?after=${end}`)).toMatchObject({ status: 204, body: undefined })
    expect(await call('GET', `/runs/${id}/events`, { headers: { 'Last-Event-ID': `${end}` } })).toMatchObject({ status: 204 })
    expect(await call('GET', `/runs/${id}/events?after=${end + 1}`)).toMatchObject(refused(409, 'cursor_ahead', `ends at ${end}`))
    await durably.deleteRun(id)
    expect(await call('GET', `/runs/${id}/events?after=3`)).toMatchObject(refused(410, 'run_deleted'))
    expect(await call('GET', `/runs/${id}/events?after=0`)).toMatchObject(refused(404, 'run_not_found'))
    expect(await call('GET', `/runs/${id}/events`)).toMatchObject(refused(404, 'run_not_found'))
    expect(await call('GET', '/runs/%00/events')).toMatchObject(refused(404, 'run_not_found'))
    const denied = reach(durably, { authorize: () => false })
    const there = await job.trigger({ to: 1 })
    expect(await denied.call('GET', `/runs/${there.id}/events?after=1`)).toMatchObject(refused(410, 'run_deleted'))
    expect(await denied.call('GET', `/runs/${there.id}/events`)).toMatchObject(refused(404, 'run_not_found'))
  })

  test('a run that waits at its cursor is followed, a retried one as well', async () => {
    const { open, durably, soon, env } = await streaming(name)
    let tries = 0
    const job = durably.defineJob({ name: 'second', input: z.unknown() }, () => {
      if (++tries === 1) throw new Error('first')
    })
    const { id } = await job.trigger({})
    await soon(durably.processUntilIdle())
    expect((await soon((await open(`/runs/${id}/events`)).all())).told.at(-1)?.data).toStrictEqual({ status: 'failed' })
    await durably.retry(id)
    const heard = await open(`/runs/${id}/events?after=3`)
    const whole = heard.all()
    await env.idle()
    expect(heard.told.map(({ data }) => (data as { type: string }).type)).toStrictEqual(['run:retry'])
    await soon(durably.processUntilIdle())
    await soon(whole)
    expect(heard.told.at(-1)).toMatchObject({ event: 'done', data: { status: 'completed' } })
  })

  test('a run that is deleted meanwhile is gone', async () => {
    const { open, another, slow, env, within } = await streaming(name)
    const { id } = await slow.trigger({})
    const heard = await open(`/runs/${id}/events`)
    const whole = heard.all()
    await env.idle()
    const elsewhere = another()
    await elsewhere.cancel(id)
    await elsewhere.deleteRun(id)
    await within(3000, whole)
    expect(heard.told.at(-1)).toMatchObject({ event: 'gone', data: {} })
    expect(heard.names).not.toContain('done')
  })

  test('a store that is away for a while is outlasted', async () => {
    const { wrap, faults } = faulty()
    const { open, durably, slow, cut, within, errors } = await streaming(name, {}, { wrap })
    const { id } = await slow.trigger({})
    const heard = await open(`/runs/${id}/events`)
    const whole = heard.all()
    durably.start()
    faults.fail('events.list', { when: 'before', times: 3 })
    cut.open()
    await within(30_000, whole)
    expect(heard.told.at(-1)).toMatchObject({ event: 'done', data: { status: 'completed' } })
    expect(errors).toStrictEqual([])
  })
})

describe('a stream', () => {
  test.each(['abc', '-1', '1e30', '1.5', '0x1', ' ', '99999999999999999'])('the cursor %s is refused', async (cursor) => {
    const { call, job } = await streaming('memory')
    const { id } = await job.trigger({ to: 1 })
    const path = `/runs/${id}/events`
    expect(await call('GET', `${path}?after=${encodeURIComponent(cursor)}`)).toMatchObject(refused(400, 'invalid_argument', 'cursor'))
    if (cursor.trim())
      expect(await call('GET', path, { headers: { 'Last-Event-ID': cursor } })).toMatchObject(refused(400, 'invalid_argument', 'cursor'))
    expect(await call('GET', `/events?run=${id}:${encodeURIComponent(cursor)}`)).toMatchObject(refused(400, 'invalid_argument', 'cursor'))
  })

  test('says something every 15 seconds while nothing happens', async () => {
    const { open, slow, env } = await streaming('memory')
    const { id } = await slow.trigger({})
    const heard = await open(`/runs/${id}/events`)
    heard.all()
    await env.advance(61_000)
    expect(heard.asides).toStrictEqual(['retry: 1000', ': ', ': ', ': ', ': '])
    await heard.leave()
  })

  test('is pulled: a reader that takes nothing makes nothing be read', async () => {
    const { wrap, faults } = faulty()
    const { open, durably, soon, env } = await streaming('memory', {}, { wrap })
    const job = durably.defineJob({ name: 'long', input: z.unknown() }, async (ctx) => {
      for (let i = 0; i < 1000; i++) await ctx.run(`step ${i}`, () => 'x'.repeat(200))
    })
    const { id } = await job.trigger({})
    await soon(durably.processUntilIdle())
    faults.calls.length = 0
    const heard = await open(`/runs/${id}/events`)
    await env.advance(60_000)
    expect(faults.count('events.list')).toBe(0)
    for (let pages = 0; pages < 5; pages++) {
      await soon(heard.until(({ told }) => told.length >= pages * 100 + 1))
      await env.advance(60_000)
      expect(faults.count('events.list')).toBe(pages + 1)
      expect(heard.told.length).toBeLessThanOrEqual(pages * 100 + 100)
    }
    await heard.leave()
    expect(faults.count('events.list')).toBe(5)
  })

  test('reads the log once for each change, and the run for few of them', async () => {
    const { wrap, faults } = faulty()
    const { durably, another, env, within } = await served('memory')
    const job = durably.defineJob({ name: 'steps', input: z.unknown() }, async (ctx) => {
      for (let i = 0; i < 20; i++) await ctx.run(`step ${i}`, () => sleep(env, 1500))
    })
    const { id } = await job.trigger({})
    const { handler } = reach(another({ wrap }))
    const heard = new Heard(await handler(request('GET', `/runs/${id}/events`)))
    durably.start()
    await within(60_000, heard.all())
    expect(heard.names.at(-1)).toBe('done')
    // Twenty changes are found by polling; a few reads more at both ends.
    expect(faults.count('events.list')).toBeLessThan(26)
    expect(faults.count('runs.get')).toBeLessThan(8)
  })

  test.each(['the reader leaves', 'the request is aborted', 'the server closes', 'the run ends', 'it is denied', 'the store breaks'])(
    'holds nothing when %s',
    async (how) => {
      let isAllowed = true
      const { wrap, faults } = faulty()
      const world = await streaming('memory', { authorize: () => isAllowed }, { wrap })
      const { durably, handler, slow, env, cut, soon } = world
      const { id } = await slow.trigger({})
      const leaving = new AbortController()
      const asked = request('GET', `/runs/${id}/events`, { signal: leaving.signal })
      const listeners = countListeners(asked.signal)
      const before = { watching: watching(durably), streams: handler.openStreams, listeners: listeners(), timers: env.nextInMs() }
      const heard = new Heard(await handler(asked))
      expect(listeners()).toBe(1)
      const whole = heard.all().catch(() => {})
      await env.idle()
      expect({ watching: watching(durably), streams: handler.openStreams }).toStrictEqual({ watching: 1, streams: 1 })
      if (how === 'the reader leaves') await heard.leave()
      if (how === 'the request is aborted') leaving.abort()
      if (how === 'the server closes') handler.close()
      if (how === 'the run ends') {
        cut.open()
        durably.start()
        await soon(whole)
        await soon(durably.stop())
      }
      if (how === 'it is denied') isAllowed = false
      if (how === 'the store breaks') {
        faults.fail('events.list', { when: 'before', error: new Error('broken') })
        await durably.cancel(id)
      }
      await env.advance(2500)
      await soon(whole)
      expect({ watching: watching(durably), streams: handler.openStreams, listeners: listeners(), timers: env.nextInMs() }).toStrictEqual(
        before,
      )
      expect(world.errors).toHaveLength(how === 'the store breaks' ? 1 : 0)
    },
  )

  test('a hundred that come and go leave nothing behind', async () => {
    const { durably, open, handler, slow, env } = await streaming('memory')
    const { id } = await slow.trigger({})
    for (let round = 0; round < 10; round++) {
      const all = await Promise.all(Array.from({ length: 10 }, () => open(`/runs/${id}/events`)))
      for (const heard of all) heard.all()
      await env.idle()
      expect([watching(durably), handler.openStreams]).toStrictEqual([10, 10])
      for (const heard of all) await heard.leave()
      expect([watching(durably), handler.openStreams]).toStrictEqual([0, 0])
    }
  })

  test('is closed within one poll when its token is revoked, also under a reader that is slow', async () => {
    const tokens = new Set(['a', 'b'])
    const { handler, slow, env } = await streaming('memory', { authorize: (request) => tokens.has(request.headers.get('token') ?? '') })
    const { id } = await slow.trigger({})
    const connect = async (token: string) => new Heard(await handler(request('GET', `/runs/${id}/events`, { headers: { token } })))
    const [revoked, slowly, kept] = [await connect('a'), await connect('a'), await connect('b')]
    revoked.all()
    kept.all()
    await env.advance(5000)
    expect(revoked.ended).toBe(false)
    tokens.delete('a')
    await env.advance(1000)
    expect(revoked).toMatchObject({ ended: true, names: ['message', 'denied'] })
    expect(handler.openStreams).toBe(1)
    expect((await slowly.all()).names).toStrictEqual(['denied'])
    expect(kept.ended).toBe(false)
    await kept.leave()
  })

  test('is closed without a word when it cannot be asked, so that its reader comes again', async () => {
    let error: Error | null = null
    const { open, slow, env, errors } = await streaming('memory', {
      authorize: () => {
        if (error) throw error
        return true
      },
    })
    const { id } = await slow.trigger({})
    const heard = await open(`/runs/${id}/events`)
    heard.all()
    await env.idle()
    error = new Error('no answer')
    await env.advance(1000)
    expect(heard).toMatchObject({ ended: true, names: ['message'] })
    expect(errors).toStrictEqual([error])
  })

  test('a slow authorize is asked once at a time', async () => {
    let asked = 0
    const answer = gate<boolean>()
    const { open, slow, env, soon } = await streaming('memory', { authorize: () => (++asked === 1 ? true : answer.opened) })
    const { id } = await slow.trigger({})
    const heard = await open(`/runs/${id}/events`)
    const whole = heard.all()
    await env.advance(10_000)
    expect(asked).toBe(2)
    answer.open(false)
    await soon(whole)
    expect(heard.names.at(-1)).toBe('denied')
  })

  test('each principal may have so many, and they are counted when they go', async () => {
    const { handler, slow, env } = await streaming('memory', { principal: (request) => request.headers.get('user') ?? '', maxStreams: 2 })
    const { id } = await slow.trigger({})
    const connect = (user: string) => handler(request('GET', `/runs/${id}/events`, { headers: { user } }))
    const [first] = [await connect('alice'), await connect('alice')]
    const third = await connect('alice')
    expect(third.headers.get('Retry-After')).toBe('1')
    expect(await read(third)).toMatchObject(refused(429, 'too_many_streams', 'at most 2'))
    expect((await connect('bob')).status).toBe(200)
    await first.body?.cancel()
    await env.idle()
    expect((await connect('alice')).status).toBe(200)
    expect((await connect('alice')).status).toBe(429)
    expect(handler.openStreams).toBe(3)
    handler.close()
    expect(handler.openStreams).toBe(0)
    expect(await read(await connect('alice'))).toMatchObject(refused(503, 'shutdown'))
  })

  test('there is none without an event log', async () => {
    const { call, job } = await streaming('memory', {}, { eventLog: false })
    const { id } = await job.trigger({ to: 1 })
    expect(await call('GET', `/runs/${id}/events`)).toMatchObject(refused(409, 'event_log_off'))
    expect(await call('GET', `/events?run=${id}`)).toMatchObject(refused(409, 'event_log_off'))
  })
})

function watching(durably: Durably): number {
  return durably[ENGINE].follow.watch.size
}

function countListeners(signal: AbortSignal): () => number {
  let count = 0
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = function (this: AbortSignal, ...args: Parameters<typeof addEventListener>) {
    count++
    return addEventListener.apply(this, args)
  } as typeof addEventListener
  signal.removeEventListener = function (this: AbortSignal, ...args: Parameters<typeof removeEventListener>) {
    count--
    return removeEventListener.apply(this, args)
  } as typeof removeEventListener
  return () => count
}
