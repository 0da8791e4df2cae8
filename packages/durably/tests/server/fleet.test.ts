// Two API servers on one Postgres: any of them serves any run, and a reader that is cut off again and again misses nothing.
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably, type Durably } from '../../src/durably.ts'
import { emptyRunView, type RunLogEvent, reduceRun } from '../../src/index.ts'
import { postgres } from '../../src/postgres/index.ts'
import { allowAll, durablyHandler } from '../../src/server/index.ts'
import { logOf } from '../engine/run-log.ts'
import { migratedPostgres } from '../postgres/place.ts'
import { listen, MOUNTS } from './http.ts'
import { Heard } from './sse.ts'
import { wire } from './world.ts'

const CUT_AFTER = 3

function instance(url: string): Durably {
  const durably = createDurably({ dialect: postgres(url, { max: 4 }) })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  durably.defineJob({ name: 'write', input: z.object({ words: z.number() }) }, async (ctx, { words }) => {
    await ctx.run('first', () => new Date(0))
    await ctx.stream('text', async (emit) => {
      for (let i = 0; i < words; i++) {
        await emit(`word ${i} `)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })
    for (let i = 0; i < 10; i++) await ctx.run(`step ${i}`, () => ({ i, text: 'ü\n\u2028' }))
    return 'written'
  })
  return durably
}

test('a run triggered here is followed there, cut every few events and resumed elsewhere, byte for byte', async () => {
  const { store, url } = await migratedPostgres()
  const [here, there] = [instance(url), instance(url)]
  const urls: string[] = []
  for (const durably of [here, there]) {
    const handler = durablyHandler(durably, { authorize: allowAll() })
    urls.push((await listen(MOUNTS['node:http']?.(handler) ?? (() => {}))).url)
  }
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ job: 'write', input: { words: 60 } })
  const created = (await (await fetch(`${urls[0]}/runs`, { method: 'POST', headers, body })).json()) as { id: string }
  const { id } = created
  expect(await (await fetch(`${urls[1]}/runs/${id}`)).json()).toMatchObject({ id, status: 'pending' })
  here.start()

  const told: string[] = []
  let [cursor, connections] = ['', 0]
  for (let isDone = false; !isDone; connections++) {
    const stream = await fetch(`${urls[(connections + 1) % 2]}/runs/${id}/events`, { headers: cursor ? { 'Last-Event-ID': cursor } : {} })
    // It was cut off right behind the last event.
    if (stream.status === 204) break
    expect(stream.status).toBe(200)
    const heard = await new Heard(stream).until(({ told, names }) => told.length >= CUT_AFTER || names.includes('done'))
    for (const { event, id, text } of heard.told) {
      isDone ||= event === 'done'
      if (event === 'message') told.push(text)
      cursor = id ?? cursor
    }
    await heard.leave()
  }
  const log = (await logOf(store, id)).map((event) => wire.encode(event, 'event'))
  // What a finished stream told while it ran is in the log no more, but as a whole.
  expect(told.filter((text) => log.includes(text) || !text.includes('"stream:chunk"'))).toStrictEqual(log)
  const view = told.map((text) => wire.decode(text) as RunLogEvent).reduce(reduceRun, emptyRunView)
  expect(view.streams.text?.text).toBe(Array.from({ length: 60 }, (_, i) => `word ${i} `).join(''))
  expect(connections).toBeGreaterThan(5)
  for (const url of urls) expect((await fetch(`${url}/runs/${id}/events?after=${cursor}`)).status).toBe(204)
})
