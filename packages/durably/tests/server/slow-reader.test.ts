// A client that reads a kilobyte at a time, over a connection whose buffers are known: the server holds a page, not the log.
import { createServer, type ServerResponse } from 'node:http'
import { duplexPair } from 'node:stream'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { allowAll, durablyHandler, nodeListener } from '../../src/server/index.ts'
import { faulty } from '../engine/faulty-store.ts'

const PAGE = 100
const EVENT_BYTES = 4096
const EVENTS = 3000
/** Of Node, on both sides of the connection, and one chunk of the stream. */
const BUFFERS = 512 * 1024

test('the server holds no more than a page for a client that reads 1 KB at a time', async () => {
  const { wrap, faults } = faulty()
  const durably = createDurably({ store: wrap(memoryStore()) })
  const job = durably.defineJob({ name: 'long', input: z.unknown() }, async (ctx) => {
    // Each step has two events, and the second one tells its output.
    for (let i = 0; i < EVENTS / 2; i++) await ctx.run(`step ${i}`, () => 'x'.repeat(2 * EVENT_BYTES))
  })
  const { id } = await job.trigger({})
  await durably.processUntilIdle()
  faults.calls.length = 0

  const handler = durablyHandler(durably, { authorize: allowAll() })
  let answer: ServerResponse | undefined
  const server = createServer((req, res) => {
    answer = res
    nodeListener(handler)(req, res)
  })
  const [client, connection] = duplexPair()
  server.emit('connection', connection)
  client.write(`GET /runs/${id}/events HTTP/1.1\r\nHost: x\r\n\r\n`)

  let read = 0
  for (let i = 0; i < 2000; i++) {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    read += (client.read(1024) as Buffer | null)?.length ?? 0
    const pulled = faults.count('events.list')
    expect(answer?.writableLength ?? 0).toBeLessThan(BUFFERS)
    expect(pulled * PAGE * EVENT_BYTES).toBeLessThan(read + PAGE * EVENT_BYTES + BUFFERS)
  }
  expect(read).toBeGreaterThan(1_000_000)
  expect(read).toBeLessThan(EVENTS * EVENT_BYTES)
  const closed = new Promise((resolve) => answer?.once('close', resolve))
  connection.destroy()
  await closed
  expect(handler.openStreams).toBe(0)
})
