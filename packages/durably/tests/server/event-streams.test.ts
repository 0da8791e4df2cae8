// Event streams of an application's own routes: the log in its words, to whom it allows, from any cursor, counted and closed.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { RunLogEvent } from '../../src/model/event.ts'
import { type EventStreamsOptions, eventStreams, type RunStreamOptions, type StreamMessage } from '../../src/server/index.ts'
import { gate } from '../engine/gate.ts'
import { setup, WORLDS, type WorldName } from '../engine/world.ts'
import { Heard } from './sse.ts'
import { request } from './world.ts'

/** Steps in the words of the application: two messages each. All else is not shown. */
function messages(event: RunLogEvent): StreamMessage[] {
  if (event.type !== 'step:complete') return []
  return [{ event: 'step', data: { name: event.stepName } }, { data: { output: event.output } }]
}

async function streaming(name: WorldName, options: EventStreamsOptions = {}) {
  const world = await setup(name)
  const { durably } = world
  const more = gate()
  const job = durably.defineJob({ name: 'work', input: z.unknown() }, async (ctx) => {
    await ctx.run('first', () => 1)
    await more.opened
    await ctx.run('second', () => 2)
  })
  const errors: unknown[] = []
  const streams = eventStreams(durably, { onError: (error) => void errors.push(error), ...options })
  const open = async (runId: string, how: Partial<RunStreamOptions> = {}, headers: Record<string, string> = {}, path = '/answers') =>
    streams.open(request('GET', path, { headers }), runId, { messages, ...how })
  return { ...world, job, more, streams, open, errors }
}

const WHOLE = [
  { event: 'step', id: undefined, data: { name: 'first' } },
  { event: 'message', id: expect.any(String), data: { output: 1 } },
  { event: 'step', id: undefined, data: { name: 'second' } },
  { event: 'message', id: expect.any(String), data: { output: 2 } },
]

describe.each(WORLDS)('streams of an application (%s)', (name) => {
  test('a run is followed live in the words of the application, and again from a cursor', async () => {
    const { durably, job, more, open, soon, env, streams } = await streaming(name)
    const { id } = await job.trigger(null)
    const heard = new Heard(await open(id, { last: (how) => ({ event: 'end', data: how }) }))
    const whole = heard.all()
    durably.start()
    await env.idle()
    expect(heard.told).toMatchObject(WHOLE.slice(0, 2))
    expect(streams.size).toBe(1)
    more.open()
    await soon(whole)
    expect(heard.told).toMatchObject([...WHOLE, { event: 'end', id: undefined, data: 'completed' }])
    // Events that become nothing send nothing, not even a comment.
    expect(heard.asides).toEqual(['retry: 1000'])
    expect(streams.size).toBe(0)
    // A reader that was cut off between the two messages of an event has the cursor of the event before.
    const cursor = heard.told[1]?.id ?? ''
    const rest = await soon(new Heard(await open(id, {}, { 'Last-Event-ID': cursor })).all())
    expect(rest.told).toMatchObject(WHOLE.slice(2))
    expect((await soon(new Heard(await open(id, {}, {}, `/answers?after=${cursor}`)).all())).told).toEqual(rest.told)
    const { lastEventSequence } = (await durably.getRun(id)) ?? {}
    expect((await open(id, {}, { 'Last-Event-ID': String(lastEventSequence) })).status).toBe(204)
  })

  test('a comment is sent while nothing happens, and a reader that leaves is forgotten', async () => {
    const { job, open, env, streams } = await streaming(name)
    const { id } = await job.trigger(null)
    const heard = new Heard(await open(id))
    void heard.all()
    await env.advance(31_000)
    expect(heard.asides).toEqual(['retry: 1000', ': ', ': '])
    await heard.leave()
    expect(streams.size).toBe(0)
  })

  test.each([
    ['abc', 'invalid_argument'],
    ['-1', 'invalid_argument'],
    ['1e30', 'invalid_argument'],
    ['99', 'cursor_ahead'],
  ])('the cursor %s is refused: %s', async (cursor, code) => {
    const { job, open, streams } = await streaming(name)
    const { id } = await job.trigger(null)
    await expect(open(id, {}, { 'Last-Event-ID': cursor })).rejects.toMatchObject({ code })
    expect(streams.size).toBe(0)
  })

  test('a run that is not there, and one that is deleted', async () => {
    const { durably, job, open, soon } = await streaming(name)
    for (const id of ['none', 'a\0b', 'x'.repeat(5000)]) await expect(open(id)).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(open('none', {}, { 'Last-Event-ID': '3' })).rejects.toMatchObject({ code: 'run_deleted' })
    const { id } = await job.trigger(null)
    const heard = new Heard(await open(id, { last: (how) => ({ event: how, data: {} }) }))
    const whole = heard.all()
    await durably.cancel(id)
    await soon(whole)
    expect(heard.names).toEqual(['cancelled'])
  })

  test('each principal may have so many, and all end when the server closes', async () => {
    const { job, open, streams } = await streaming(name, { maxStreams: 2 })
    const { id } = await job.trigger(null)
    const opened = await Promise.all(['a', 'a', 'b'].map(async (principal) => new Heard(await open(id, { principal }))))
    const [first] = opened
    await expect(open(id, { principal: 'a' })).rejects.toMatchObject({ code: 'too_many_streams', message: expect.stringContaining('2') })
    await first?.leave()
    opened.push(new Heard(await open(id, { principal: 'a' })))
    const ended = Promise.all(opened.map((heard) => heard.all()))
    streams.close()
    await ended
    expect(streams.size).toBe(0)
    await expect(open(id)).rejects.toMatchObject({ code: 'shutdown' })
  })

  test('a reader that may not read any more is told so, and an error of the application ends the stream', async () => {
    const { job, open, env, errors } = await streaming(name)
    const { id } = await job.trigger(null)
    let isAllowed = true
    const denied = new Heard(await open(id, { mayRead: () => isAllowed, last: (how) => ({ event: how, data: {} }) }))
    const ended = denied.all()
    await env.advance(5000)
    isAllowed = false
    await env.advance(5000)
    await ended
    expect(denied.names).toEqual(['denied'])
    const broken = new Heard(
      await open(id, {
        messages() {
          throw new Error('no words')
        },
      }),
    )
    await broken.all()
    expect(broken.told).toEqual([])
    expect(errors).toMatchObject([{ message: 'no words' }])
  })
})

test('options that do not exist or make no sense are refused', async () => {
  const { durably } = await setup('memory')
  expect(() => eventStreams(durably, { maxStreams: 0 })).toThrow('maxStreams must be a whole number of at least 1, got 0')
  expect(() => eventStreams(durably, { maxStream: 5 } as EventStreamsOptions)).toThrow('maxStreams')
})
