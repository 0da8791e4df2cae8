// A page that nobody sees lets its connections go, and goes on where it was when it is seen again.
import { afterEach, expect, test, vi } from 'vitest'
import type { ConnectionState } from '../../src/client/durably-client.ts'
import { httpClient } from '../../src/client/http/http-client.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'
import { faultyFetch } from './faulty-fetch.ts'
import { LogServer } from './log-server.ts'

class Page extends EventTarget {
  visibilityState = 'visible'
  listeners = 0

  override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
    this.listeners++
    super.addEventListener(...args)
  }

  override removeEventListener(...args: Parameters<EventTarget['removeEventListener']>): void {
    this.listeners--
    super.removeEventListener(...args)
  }

  become(state: 'visible' | 'hidden'): void {
    this.visibilityState = state
    this.dispatchEvent(new Event('visibilitychange'))
  }
}

afterEach(() => vi.unstubAllGlobals())

function setup(visibilityState: 'visible' | 'hidden' = 'visible') {
  const page = new Page()
  page.visibilityState = visibilityState
  vi.stubGlobal('document', page)
  const env = virtualEnv()
  const server = new LogServer()
  const line = faultyFetch(server.fetch, () => null)
  const client = httpClient({ url: 'http://server.test', fetch: line.fetch, env })
  server.tell('r', 'first')
  const controller = new AbortController()
  const seen: number[] = []
  const states: ConnectionState[] = []
  const ended = (async () => {
    const options = { signal: controller.signal, onConnection: (state: ConnectionState) => void states.push(state) }
    for await (const { sequence } of client.subscribe('r', options)) seen.push(sequence)
  })().catch(() => {})
  const leave = async () => {
    controller.abort()
    await env.advance(1000)
    await ended
  }
  return { page, env, server, seen, states, leave, ...line }
}

test('hidden for more than five seconds: the connection is let go; visible again: it goes on at once, nothing missed', async () => {
  const { page, env, server, seen, states, open, asked, leave } = setup()
  await env.advance(100)
  page.become('hidden')
  await env.advance(4999)
  expect(open()).toBe(1)
  await env.advance(1)
  expect(open()).toBe(0)
  server.tell('r', 'unseen', 'unseen')
  await env.advance(10 * 60_000)
  expect(asked).toHaveLength(1)
  expect(seen).toEqual([1])
  page.become('visible')
  await env.advance(0)
  expect(seen).toEqual([1, 2, 3])
  expect(asked).toEqual(['/runs/r/events', '/runs/r/events?after=1'])
  expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live'])
  await leave()
  expect(page.listeners).toBe(0)
  expect(env.nextInMs()).toBeNull()
})

test('a short look at another tab changes nothing', async () => {
  const { page, env, asked, open, leave } = setup()
  await env.advance(100)
  for (let i = 0; i < 5; i++) {
    page.become('hidden')
    await env.advance(4000)
    page.become('visible')
    await env.advance(1000)
  }
  expect(open()).toBe(1)
  expect(asked).toHaveLength(1)
  await leave()
})

test('a page that opens in the background reads for five seconds, and then waits to be seen', async () => {
  const { page, env, server, seen, open, leave } = setup('hidden')
  await env.advance(5000)
  expect(seen).toEqual([1])
  expect(open()).toBe(0)
  server.tell('r', 'unseen')
  page.become('visible')
  await env.advance(0)
  expect(seen).toEqual([1, 2])
  await leave()
})

test('who leaves while the page is hidden leaves nothing behind', async () => {
  const { page, env, leave } = setup()
  await env.advance(100)
  page.become('hidden')
  await env.advance(6000)
  await leave()
  expect(page.listeners).toBe(0)
  expect(env.nextInMs()).toBeNull()
})
