// httpClient over real sockets to a real node:http server that dies, comes back, and has its connections torn.
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { httpClient } from '../../src/client/http/http-client.ts'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { DEPTH_MAX } from '../../src/model/codec.ts'
import { type Clock, systemClock } from '../../src/model/env.ts'
import type { RunLogEvent } from '../../src/model/event.ts'
import type { Run } from '../../src/model/run.ts'
import { allowAll } from '../../src/server/authorize.ts'
import { durablyHandler } from '../../src/server/handler.ts'
import { nodeListener } from '../../src/server/node-listener.ts'
import { gate } from '../engine/gate.ts'
import { logOf } from '../engine/run-log.ts'

/** Pauses of seconds would make the test wait; everything else is real. */
function hurriedClock(): Clock {
  const clock = systemClock()
  return { ...clock, timer: (ms, fn) => clock.timer(ms / 20, fn) }
}

async function setup() {
  const store = memoryStore()
  const durably = createDurably({ store, concurrency: 3 })
  const handler = durablyHandler(durably, { authorize: allowAll() })
  const sockets = new Set<Socket>()
  let server: Server
  let port = 0
  let isBroken = false
  const start = async () => {
    const listener = nodeListener(handler)
    server = createServer((request, response) => {
      if (!isBroken) return void listener(request, response)
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>502 Bad Gateway</html>')
    })
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  const tear = () => {
    for (const socket of sockets) socket.destroy()
  }
  const die = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    tear()
    await closed
  }
  await start()
  onTestFinished(async () => {
    await die()
    await durably.stop({ timeout: 0 })
  })
  const client = httpClient({ url: `http://127.0.0.1:${port}`, env: hurriedClock() })
  const setBroken = (broken: boolean) => {
    isBroken = broken
  }
  return { store, durably, handler, client, start, die, tear, setBroken }
}

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of iterable) items.push(item)
  return items
}

test('torn connections, a dead server, a server that comes back, 502s: transcripts are equal to the log', { timeout: 60_000 }, async () => {
  const { store, durably, handler, client, start, die, tear, setBroken } = await setup()
  const gates = Array.from({ length: 6 }, () => gate())
  const job = durably.defineJob({ name: 'job', input: z.string() }, async (ctx, text) => {
    for (const [i, { opened }] of gates.entries()) {
      await opened
      for (const part of [1, 2, 3]) await ctx.run(`${i} ${part}`, () => ({ text: text.repeat(50), at: new Date(i) }))
    }
    return text
  })
  const runs = await job.batchTrigger(['ß', '日本', '👩‍👩‍👧'].map((payload) => ({ payload })))
  const seen = new Map<string, number>()
  const read = runs.flatMap(({ id }) =>
    [0, 2].map(async (after) => {
      const events: RunLogEvent[] = []
      for await (const event of client.subscribe(id, { after })) {
        events.push(event)
        seen.set(id, event.sequence)
      }
      return { id, after, events }
    }),
  )
  const controller = new AbortController()
  let newest: readonly Run[] = []
  const watching = (async () => {
    for await (const page of client.watchRuns({}, { signal: controller.signal })) newest = page
  })().catch(() => {})
  /** Everybody has seen the three steps behind this gate: the run's first two events, then two for each step. */
  const caughtUp = async (i: number) => {
    for (const { id } of runs) await expect.poll(() => seen.get(id) ?? 0, { timeout: 20_000 }).toBeGreaterThanOrEqual(2 + 6 * (i + 1))
  }
  durably.start()
  const stages = [
    async () => {},
    async () => tear(),
    async () => {
      await die()
      await start()
    },
    async () => {
      setBroken(true)
      tear()
      await expect(client.trigger('job', 'x')).rejects.toMatchObject({ code: 'server_unreachable' })
      setBroken(false)
    },
    async () => {
      await die()
      await expect(client.trigger('job', 'x')).rejects.toMatchObject({ code: 'server_unreachable' })
      await start()
    },
    async () => tear(),
  ]
  for (const [i, stage] of stages.entries()) {
    gates[i]?.open()
    await stage()
    await caughtUp(i)
  }
  for (const { id, after, events } of await Promise.all(read)) expect(events).toEqual((await logOf(store, id)).slice(after))
  const there = await durably.getRuns()
  await expect.poll(() => newest, { timeout: 20_000 }).toEqual(there)
  expect(await client.getRuns()).toEqual(there)
  expect(await all(client.subscribe(runs[0]?.id ?? '', { after: 1 }))).toEqual((await logOf(store, runs[0]?.id ?? '')).slice(1))
  controller.abort()
  await watching
  await expect.poll(() => handler.openStreams, { timeout: 20_000 }).toBe(0)
})

describe('watchRuns shows whatever can be stored', () => {
  const MIB = 1024 * 1024
  const nested = (levels: number) => Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 'bottom')

  test.each<[string, () => unknown]>([
    ['9 MiB of payload and 9 MiB of output', () => ({ at: new Date(0), text: 'x'.repeat(9 * MIB) })],
    ['values nested as deep as can be', () => nested(DEPTH_MAX - 1)],
    ['tagged values nested as deep as can be', () => new Map([['at', nested(DEPTH_MAX - 2)]])],
  ])('%s', { timeout: 60_000 }, async (_, make) => {
    const { durably, client, tear } = await setup()
    const { opened, open } = gate()
    const job = durably.defineJob({ name: 'large', input: z.unknown() }, async (_, input) => {
      await opened
      return input
    })
    const payload = { value: make() }
    const { id } = await job.trigger(payload)
    const other = await job.trigger('another', { delay: '1h' })
    durably.start()
    const pages: (readonly Run[])[] = []
    for await (const page of client.watchRuns()) {
      pages.push(page)
      const run = page.find((run) => run.id === id)
      if (run?.status === 'running') open()
      if (run?.status === 'completed') break
    }
    const [untouched, done] = pages.at(-1) ?? []
    expect(done?.payload).toEqual(payload)
    expect(done?.output).toEqual(payload)
    expect(untouched).toMatchObject({ id: other.id })
    tear()
  })

  test('after a break, what did not change is still the same object', { timeout: 60_000 }, async () => {
    const { durably, client, tear } = await setup()
    const job = durably.defineJob({ name: 'job', input: z.unknown() }, () => {})
    const first = await job.trigger({ at: new Date(0) }, { delay: '1h' })
    const pages: (readonly Run[])[] = []
    for await (const page of client.watchRuns()) {
      pages.push(page)
      if (page.length === 2) break
      tear()
      await job.trigger({}, { delay: '1h' })
    }
    expect(pages.map((page) => page.at(-1)?.id)).toStrictEqual([first.id, first.id])
    expect(pages[1]?.[1]).toBe(pages[0]?.[0])
  })
})
