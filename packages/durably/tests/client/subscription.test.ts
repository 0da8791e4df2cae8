// httpClient.subscribe on a bad line: cut, refused, answered by others, silent. What a subscriber sees is the log, once.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ConnectionState, FollowOptions } from '../../src/client/durably-client.ts'
import { httpClient } from '../../src/client/http/http-client.ts'
import type { RunLogEvent } from '../../src/model/event.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { badGateway, type Fault, faultyFetch } from './faulty-fetch.ts'
import { LogServer } from './log-server.ts'

function setup(faultOf: (path: string, asked: number) => Fault | null = () => null) {
  const env = virtualEnv()
  const server = new LogServer()
  const line = faultyFetch(server.fetch, faultOf)
  const client = httpClient({ url: 'http://server.test/', fetch: line.fetch, env })
  const follow = (runId: string, options: FollowOptions & { after?: number } = {}) => {
    const events: RunLogEvent[] = []
    const states: ConnectionState[] = []
    const end: { error?: unknown; isOver: boolean } = { isOver: false }
    const subscription = client.subscribe(runId, { onConnection: (state) => states.push(state), ...options })
    const ended = (async () => {
      for await (const event of subscription) events.push(event)
    })()
      .catch((error: unknown) => {
        end.error = error
      })
      .finally(() => {
        end.isOver = true
      })
    return { events, states, end, ended }
  }
  return { env, server, client, follow, ...line }
}

const texts = (events: readonly RunLogEvent[]) =>
  events.map((event) => (event.type === 'run:progress' ? event.progress.message : event.type))

describe('one subscription', () => {
  test('yields the log, then what comes, then ends', async () => {
    const { env, server, follow, asked, open } = setup()
    server.tell('r', 'a', 'b')
    const { events, states, end } = follow('r')
    await env.advance(0)
    expect(texts(events)).toEqual(['a', 'b'])
    server.tell('r', 'c')
    await env.advance(0)
    server.end('r')
    await env.advance(0)
    expect(texts(events)).toEqual(['a', 'b', 'c'])
    expect(end).toEqual({ isOver: true })
    expect(asked).toEqual(['/runs/r/events'])
    expect(states).toEqual(['connecting', 'live'])
    await env.advance(100)
    expect(open()).toBe(0)
    expect(env.nextInMs()).toBeNull()
  })

  test('goes on where it was cut, and asks for no more than is missing', async () => {
    const cuts = [200, 200, 0]
    const { env, server, follow, asked } = setup(() => {
      const after = cuts.shift()
      return after === undefined ? null : { type: 'cut', after }
    })
    server.tell('r', 'a', 'b', 'c')
    const { events, states } = follow('r')
    await env.advance(5000)
    expect(texts(events)).toEqual(['a', 'b', 'c'])
    expect(asked.length).toBe(4)
    expect(asked.at(-1)).toBe('/runs/r/events?after=2')
    expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live', 'reconnecting', 'live', 'reconnecting', 'live'])
  })

  test.each([
    ['in the middle of an event', 200],
    ['in the middle of a character', 0],
  ])('a cut %s loses nothing and doubles nothing', async (_, at) => {
    const text = '日本語👩‍👩‍👧'.repeat(20)
    for (let after = at || 100; after < (at ? at + 1 : 112); after++) {
      let isFirst = true
      const { env, server, follow } = setup(() => {
        const fault: Fault | null = isFirst ? { type: 'cut', after } : { type: 'pieces', of: 1 }
        isFirst = false
        return fault
      })
      server.tell('r', text, text)
      server.end('r')
      const { events, ended } = follow('r')
      await env.advance(2000)
      await ended
      expect(texts(events)).toEqual([text, text])
    }
  })

  test('survives 502s with pages of a proxy, nobody there, and a page of somebody else', async () => {
    const { env, server, follow, asked } = setup((_, asked) => {
      if (asked <= 4) return badGateway()
      if (asked <= 8) return { type: 'refuse' }
      if (asked <= 10) return { type: 'answer', response: () => new Response('<html>log in', { headers: { 'content-type': 'text/html' } }) }
      return null
    })
    server.tell('r', 'a')
    const { events, states } = follow('r')
    for (let seconds = 0; events.length === 0 && seconds < 100; seconds++) await env.advance(1000)
    expect(texts(events)).toEqual(['a'])
    expect(states).toEqual(['connecting', 'reconnecting', 'live'])
    expect(asked.length).toBe(11)
  })

  test('pauses grow to three seconds at most, and only data makes them short again', async () => {
    const { env, follow, asked } = setup(() => badGateway())
    follow('r')
    await env.advance(10 * 60_000)
    // Full jitter: half of three seconds on average.
    expect(asked.length).toBeGreaterThan(250)
    expect(asked.length).toBeLessThan(600)

    const accepting = setup(() => ({ type: 'close', after: 0 }))
    accepting.server.tell('r', 'a')
    accepting.follow('r')
    await accepting.env.advance(10 * 60_000)
    expect(accepting.asked.length).toBeLessThan(600)

    let isCut = true
    const talking = setup(() => (isCut ? { type: 'cut', after: 300 } : null))
    talking.follow('r')
    for (let i = 0; i < 40; i++) {
      talking.server.tell('r', `${i}`)
      await talking.env.advance(1000)
    }
    isCut = false
    await talking.env.advance(1000)
    expect(talking.asked.length).toBeGreaterThan(15)
  })

  test('a server that wants its clients back at once is not stormed', async () => {
    const { env, server, follow, asked } = setup(() => ({ type: 'close', after: 20 }))
    server.preface = 'retry: 0\n\n'
    server.tell('r', 'a')
    follow('r')
    await env.advance(60_000)
    expect(asked.length).toBeLessThan(70)
  })

  test('a page whose callback throws harms nobody', async () => {
    const { env, server, follow } = setup()
    server.tell('r', 'a')
    const onConnection = () => {
      throw new Error('bad page')
    }
    const [bad, good] = [follow('r', { onConnection }), follow('r')]
    await env.advance(10)
    expect([bad, good].map(({ events }) => texts(events))).toEqual([['a'], ['a']])
  })

  test('comes back as soon as the server asks it to', async () => {
    const { env, server, follow, asked } = setup((_, asked) => (asked === 1 ? { type: 'cut', after: 300 } : null))
    server.preface = 'retry: 8000\n\n'
    server.tell('r', 'a', 'b', 'c', 'd')
    follow('r')
    await env.advance(400)
    expect(asked.length).toBe(1)
    await env.advance(8000)
    expect(asked.length).toBe(2)
  })

  test('waits as long as a busy server asks it to', async () => {
    const busy = () =>
      new Response('{"error":{"code":"too_many_streams","message":"later"}}', { status: 429, headers: { 'retry-after': '20' } })
    const { env, server, follow, asked } = setup((_, asked) => (asked === 1 ? { type: 'answer', response: busy } : null))
    server.tell('r', 'a')
    const { events } = follow('r')
    await env.advance(19_999)
    expect(asked.length).toBe(1)
    await env.advance(1)
    expect(texts(events)).toEqual(['a'])
  })

  test('a half-open line is noticed after 35 s of silence, before the first byte too', async () => {
    const faults: (Fault | null)[] = [
      { type: 'silence', after: 0 },
      { type: 'silence', after: 200 },
    ]
    const { env, server, follow, asked } = setup(() => faults.shift() ?? null)
    server.tell('r', 'a', 'b', 'c')
    const { events } = follow('r')
    await env.advance(34_000)
    expect(asked.length).toBe(1)
    await env.advance(3000)
    expect(texts(events)).toEqual(['a'])
    await env.advance(36_000)
    expect(texts(events)).toEqual(['a', 'b', 'c'])
    expect(asked.length).toBe(3)
  })

  test('a comment is no silence', async () => {
    const { env, server, follow, asked } = setup()
    server.tell('r', 'a')
    follow('r')
    for (let i = 0; i < 20; i++) {
      await env.advance(15_000)
      server.comment()
    }
    expect(asked.length).toBe(1)
  })

  test('a server that never answers is asked again', async () => {
    let isDeaf = true
    const env = virtualEnv()
    const server = new LogServer()
    server.tell('r', 'a')
    const fetch = (url: string, init: RequestInit) => (isDeaf ? new Promise<never>(() => {}) : server.fetch(url, init))
    const client = httpClient({ url: 'http://server.test', fetch, env })
    const first = client.subscribe('r')[Symbol.asyncIterator]().next()
    await env.advance(34_000)
    isDeaf = false
    await env.advance(3000)
    expect((await first).value).toMatchObject({ sequence: 1 })
  })

  test('ends at once when the server has nothing left to send', async () => {
    const { env, server, follow } = setup()
    server.tell('r', 'a')
    server.end('r')
    const { events, end } = follow('r', { after: 1 })
    await env.advance(0)
    expect({ events, end }).toEqual({ events: [], end: { isOver: true } })
  })

  test.each([
    [401, 'forbidden'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [400, 'server_unreachable'],
  ])('gives up when somebody answers %i', async (status, code) => {
    const { env, follow, asked } = setup(() => ({ type: 'answer', response: () => new Response('<html>', { status }) }))
    const { end } = follow('r')
    await env.advance(10_000)
    expect(end.error).toMatchObject({ name: 'DurablyError', code, runId: 'r' })
    expect(asked.length).toBe(1)
  })

  test('gives up, with the server’s own words, when it refuses: 404, 409, 410', async () => {
    const { env, server, follow } = setup()
    server.tell('r', 'a')
    const unknown = follow('nobody')
    const ahead = follow('r', { after: 5 })
    const deleted = follow('gone', { after: 5 })
    await env.advance(1000)
    expect(unknown.end.error).toMatchObject({ code: 'run_not_found', message: 'nobody' })
    expect(ahead.end.error).toMatchObject({ code: 'cursor_ahead', message: 'r' })
    expect(deleted.end.error).toMatchObject({ code: 'run_deleted', runId: 'gone' })
  })

  test('a run that is deleted while it is followed is an error, cut or not', async () => {
    const { env, server, follow } = setup()
    server.tell('r', 'a')
    const { end } = follow('r')
    await env.advance(10)
    server.delete('r')
    await env.advance(10)
    expect(end.error).toMatchObject({ code: 'run_deleted', runId: 'r' })

    const cut = setup((_, asked) => (asked === 1 ? { type: 'cut', after: 200 } : null))
    cut.server.tell('r', 'a', 'b')
    const after = cut.follow('r')
    await cut.env.advance(0)
    cut.server.delete('r')
    await cut.env.advance(2000)
    expect(texts(after.events)).toEqual(['a'])
    expect(after.end.error).toMatchObject({ code: 'run_deleted' })
  })

  test('an authorization that is withdrawn ends it', async () => {
    const denied = () => new Response('event: denied\ndata: {}\n\n', { headers: { 'content-type': 'text/event-stream' } })
    const { env, follow } = setup(() => ({ type: 'answer', response: denied }))
    const { end } = follow('r')
    await env.advance(0)
    expect(end.error).toMatchObject({ code: 'forbidden', runId: 'r' })
  })

  test('events that come again are delivered once; what is no JSON, or unknown, breaks nothing', async () => {
    const junk = 'data: {"half\n\n'
    let asked = 0
    const { env, server, follow } = setup(() => {
      server.preface = asked++ === 1 ? junk : 'event: news-of-the-future\ndata: 1\n\n'
      return { type: 'cut', after: 500 }
    })
    server.repeats = 2
    server.tell('r', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
    server.end('r')
    const { events, end } = follow('r')
    await env.advance(60_000)
    expect(texts(events)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    expect(end).toEqual({ isOver: true })
  })

  test.each(['\n', '\r\n', '\r'])('line ends %j, a byte order mark, comments and events of a megabyte', async (lineEnd) => {
    const { env, server, follow } = setup(() => ({ type: 'pieces', of: 65_537 }))
    server.lineEnd = lineEnd
    server.preface = '\uFEFF: hello\nretry: 1000\n\n: \n\n'
    const huge = '長'.repeat(1024 * 1024)
    server.tell('r', 'a', huge, 'c')
    server.end('r')
    const { events, ended } = follow('r')
    await env.advance(10)
    await ended
    expect(texts(events)).toEqual(['a', huge, 'c'])
  })

  test('who does not read makes the server wait: nothing is fetched ahead beyond a page', async () => {
    const { env, server, client, asked } = setup()
    const iterator = client.subscribe('r')[Symbol.asyncIterator]()
    const first = iterator.next()
    server.tell('r', ...Array.from({ length: 5000 }, (_, i) => `${i}`))
    await env.advance(60_000)
    expect((await first).value).toMatchObject({ sequence: 1 })
    expect(server.told).toBeLessThan(150)
    for (let sequence = 2; sequence <= 5000; sequence++) {
      const next = iterator.next()
      if (sequence % 40 === 0) await env.advance(0)
      expect((await next).value).toMatchObject({ sequence })
    }
    // The line was not let go: silence counts only while somebody reads.
    expect(asked.length).toBe(1)
    await iterator.return?.()
  })

  test('a large event counts for more: who does not read holds about a megabyte', async () => {
    const { env, server, client } = setup()
    const iterator = client.subscribe('r')[Symbol.asyncIterator]()
    const first = iterator.next()
    server.tell('r', ...Array.from({ length: 50 }, () => 'x'.repeat(300_000)))
    await env.advance(1000)
    await first
    expect(server.told).toBeLessThan(8)
    await iterator.return?.()
    await env.advance(1000)
    expect(env.nextInMs()).toBeNull()
  })
})

describe('many subscriptions', () => {
  test('share one connection, and those that come together are asked for together', async () => {
    const { env, server, follow, asked, open } = setup()
    const runs = Array.from({ length: 20 }, (_, i) => `run ${i}`)
    for (const run of runs) server.tell(run, `${run} a`)
    const followed = runs.map((run) => follow(run))
    await env.advance(100)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatch(/^\/events\?run=run%200:0&run=run%201:0&/)
    expect(open()).toBe(1)
    for (const run of runs) server.tell(run, `${run} b`)
    for (const run of runs) server.end(run)
    await env.advance(100)
    for (const [i, { events, end }] of followed.entries()) {
      expect(texts(events)).toEqual([`run ${i} a`, `run ${i} b`])
      expect(end).toEqual({ isOver: true })
    }
    expect(asked).toHaveLength(1)
    await env.advance(100)
    expect(open()).toBe(0)
    expect(env.nextInMs()).toBeNull()
  })

  test('who comes later joins, once for all who come within 50 ms; who has left is no longer asked for', async () => {
    const { env, server, follow, asked, open } = setup()
    for (const run of ['a', 'b', 'c', 'd']) server.tell(run, run)
    const controller = new AbortController()
    const { signal } = controller
    const first = follow('a')
    await env.advance(100)
    const [left, other] = [follow('b', { signal }), follow('c')]
    await env.advance(20)
    const last = follow('d')
    await env.advance(100)
    expect(asked).toEqual(['/runs/a/events', '/events?run=a:1&run=b:0&run=c:0&run=d:0'])
    controller.abort()
    await env.advance(100)
    expect(asked.slice(2)).toEqual(['/events?run=a:1&run=c:1&run=d:1'])
    for (const run of ['a', 'b', 'c', 'd']) server.tell(run, `${run}2`)
    await env.advance(100)
    expect([first, other, last, left].map(({ events }) => texts(events))).toEqual([['a', 'a2'], ['c', 'c2'], ['d', 'd2'], ['b']])
    // A change of the set is no outage.
    expect(first.states).toEqual(['connecting', 'live'])
    expect(open()).toBe(1)
  })

  test('who leaves and comes back at once finds the connection as it was', async () => {
    const { env, server, follow, asked } = setup()
    server.tell('a', '1')
    const controller = new AbortController()
    follow('a', { signal: controller.signal })
    await env.advance(100)
    controller.abort()
    const { events, states } = follow('a', { after: 1 })
    server.tell('a', '2')
    await env.advance(100)
    expect(texts(events)).toEqual(['2'])
    expect(states).toEqual(['connecting', 'live'])
    expect(asked).toEqual(['/runs/a/events'])
  })

  test('two who stand at different places of one log each get what they miss', async () => {
    const { env, server, follow, asked } = setup()
    server.tell('a', '1', '2', '3')
    const late = follow('a', { after: 2 })
    await env.advance(100)
    const early = follow('a')
    await env.advance(100)
    server.tell('a', '4')
    await env.advance(100)
    expect(texts(late.events)).toEqual(['3', '4'])
    expect(texts(early.events)).toEqual(['1', '2', '3', '4'])
    expect(asked).toEqual(['/runs/a/events?after=2', '/runs/a/events'])
  })

  test('who comes while the server is away does not make it come sooner, and is there when it is back', async () => {
    let isAway = true
    const { env, server, follow, asked } = setup(() => (isAway ? badGateway() : null))
    const runs = Array.from({ length: 100 }, (_, i) => `r${i}`)
    const all = []
    for (const run of runs) {
      server.tell(run, run)
      all.push(follow(run))
      await env.advance(1000)
    }
    expect(asked.length).toBeLessThan(100)
    isAway = false
    await env.advance(4000)
    expect(all.flatMap(({ events }) => texts(events))).toEqual(runs)
  })

  test('who comes while the only other one does not read is served', async () => {
    const { env, server, client, follow } = setup()
    const slow = client.subscribe('slow')[Symbol.asyncIterator]()
    const first = slow.next()
    server.tell('slow', ...Array.from({ length: 1000 }, (_, i) => `${i}`))
    await env.advance(100)
    await first
    server.tell('fast', 'a')
    const { events } = follow('fast')
    await env.advance(200)
    expect(texts(events)).toEqual(['a'])
    await slow.return?.()
  })

  test('more than a hundred runs take a second connection', async () => {
    const { env, server, follow, open, asked } = setup()
    const runs = Array.from({ length: 130 }, (_, i) => `r${i}`)
    for (const run of runs) server.tell(run, run)
    const followed = runs.map((run) => follow(run))
    await env.advance(100)
    expect(open()).toBe(2)
    expect(asked).toHaveLength(2)
    expect(followed.flatMap(({ events }) => texts(events))).toEqual(runs)
  })

  test('one that the server refuses fails alone', async () => {
    const { env, server, follow } = setup()
    for (const run of ['a', 'b', 'c']) server.tell(run, run)
    const [good, ahead, missing, other] = [follow('a'), follow('c', { after: 9 }), follow('nobody'), follow('b')]
    await env.advance(1000)
    expect(ahead.end.error).toMatchObject({ code: 'cursor_ahead' })
    expect(missing.end.error).toMatchObject({ code: 'run_not_found' })
    server.tell('a', 'a2')
    server.end('b')
    await env.advance(1000)
    expect([good, other].map(({ events }) => texts(events))).toEqual([['a', 'a2'], ['b']])
    expect([good, other].map(({ end }) => end)).toEqual([{ isOver: false }, { isOver: true }])
  })

  test('who is ahead of a log that another follows learns it at its end', async () => {
    const { env, server, follow } = setup()
    server.tell('a', '1')
    const [good, ahead] = [follow('a'), follow('a', { after: 9 })]
    server.end('a')
    await env.advance(100)
    expect(good.end).toEqual({ isOver: true })
    expect(ahead.end.error).toMatchObject({ code: 'cursor_ahead', runId: 'a' })
  })

  test('who does not read holds up nobody and holds little; when it reads again it has missed nothing', async () => {
    const { env, server, client, follow, open } = setup()
    server.tell('fast', 'first')
    const slow = client.subscribe('slow')[Symbol.asyncIterator]()
    const fast = follow('fast')
    const first = slow.next()
    server.tell('slow', '0')
    await env.advance(100)
    await first
    server.tell('slow', ...Array.from({ length: 2000 }, (_, i) => `${i + 1}`))
    await env.advance(100)
    const told = server.told
    for (let i = 0; i < 300; i++) server.tell('fast', `${i}`)
    await env.advance(1000)
    expect(server.told).toBe(told + 300)
    expect(fast.events).toHaveLength(301)
    expect(open()).toBe(1)
    server.end('slow')
    const rest: RunLogEvent[] = []
    const read = (async () => {
      for (let next = await slow.next(); !next.done; next = await slow.next()) rest.push(next.value)
    })()
    await env.advance(30_000)
    await read
    expect(rest.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 2000 }, (_, i) => i + 2))
  })
})

test('whatever is cut, however it comes and whoever joins or leaves, every subscriber sees the log once', { timeout: 60_000 }, async () => {
  const fault: fc.Arbitrary<Fault | null> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('cut' as const, 'close' as const), after: fc.nat(2500) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('silence' as const), after: fc.nat(1500) }) },
    { weight: 1, arbitrary: fc.constant<Fault>({ type: 'refuse' }) },
    { weight: 1, arbitrary: fc.constant(badGateway()) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('pieces' as const), of: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 1, arbitrary: fc.constant(null) },
  )
  const readers = fc.array(
    fc.record({ run: fc.nat(3), joins: fc.nat(3000), leavesEvery: fc.constantFrom(2, 5, 1000), pause: fc.constantFrom(0, 0, 30) }),
    { minLength: 1, maxLength: 6 },
  )
  const scene = fc.record({
    faults: fc.array(fault, { maxLength: 25 }),
    readers,
    sizes: fc.array(fc.nat(60), { minLength: 5, maxLength: 60 }),
    repeats: fc.nat(3),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  })
  await fc.assert(
    fc.asyncProperty(scene, async ({ faults, readers, sizes, repeats, lineEnd }) => {
      const { env, server, client, open } = setup((_, asked) => faults[asked - 1] ?? null)
      Object.assign(server, { repeats, lineEnd })
      const runs = ['r0', 'r1', 'r2', 'r3']
      for (const run of runs) server.tell(run, 'first')
      const pause = (ms: number) => new Promise<void>((resolve) => void env.timer(ms, resolve))
      const read = readers.map(async ({ run, joins, leavesEvery, pause: ms }) => {
        const events: RunLogEvent[] = []
        await pause(joins)
        for (let isOver = false; !isOver; ) {
          isOver = true
          for await (const event of client.subscribe(runs[run] ?? '', { after: events.at(-1)?.sequence ?? 0 })) {
            events.push(event)
            if (ms > 0) await pause(ms)
            if (events.length % leavesEvery > 0) continue
            isOver = false
            break
          }
        }
        return { run: runs[run] ?? '', events }
      })
      for (const [i, size] of sizes.entries()) {
        server.tell(runs[i % runs.length] ?? '', `${i} ${'ß日👩'.repeat(size)}`)
        await env.advance(size)
      }
      for (const run of runs) server.end(run)
      await env.advance(1_500_000)
      for (const { run, events } of await Promise.all(read)) expect(events).toEqual(server.log(run))
      await env.advance(1000)
      expect(open()).toBe(0)
      expect(env.nextInMs()).toBeNull()
    }),
    { numRuns: 60 },
  )
})
