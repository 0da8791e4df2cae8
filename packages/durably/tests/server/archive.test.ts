// Archived histories over HTTP: as others, and 410 with the first event that is left where a file is gone.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { httpClient } from '../../src/client/http/http-client.ts'
import { localClient } from '../../src/client/local-client.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { MemoryFiles } from '../../src/testing/memory-files.ts'
import { CLIENTS, serve, setup, URL_OF_SERVER } from '../client/world.ts'
import { reach } from './world.ts'

const MONTH = 31 * 86_400_000

async function archived(name: (typeof CLIENTS)[number]) {
  const files = new MemoryFiles()
  const world = await setup(name, { archive: { files, after: '30d' } })
  const { durably, env, soon, within } = world
  durably.use(withLogPersistence())
  let fails = true
  const job = durably.defineJob({ name: 'job', input: z.null() }, async (ctx) => {
    ctx.log.info('hello')
    await ctx.run('step', () => 1)
    if (fails) throw new Error('no')
  })
  const ids = [(await job.trigger(null)).id, (await job.trigger(null)).id]
  await soon(durably.processUntilIdle())
  const { lastEventSequence: last } = (await durably.getRun(ids[0] ?? '')) ?? { lastEventSequence: 0 }
  await env.advance(MONTH)
  await within(60_000, durably.processUntilIdle())
  expect(files.files.size).toBeGreaterThan(0)
  fails = false
  for (const id of ids) await durably.retry(id)
  await soon(durably.processUntilIdle())
  return { ...world, files, id: ids[0] ?? '', ids, last }
}

async function sequences(events: AsyncIterable<{ sequence: number }>): Promise<number[]> {
  const found: number[] = []
  for await (const { sequence } of events) found.push(sequence)
  return found
}

describe.each(CLIENTS)('the %s client', (name) => {
  test('reads an archived history, and is told where it goes on when a file is gone', async () => {
    const { client, another, env, within, files, ids, last, durably } = await archived(name)
    const all = await sequences(durably.subscribe(ids[1] ?? ''))
    const subscribe = (id: string, after = 0) => within(60_000, sequences(client.subscribe(id, { after })))
    expect(await Promise.all(ids.map((id) => subscribe(id)))).toEqual([all, all])
    expect(all).toEqual(all.map((_, i) => i + 1))

    const [gone = '', there = ''] = ids
    await files.remove(`${gone.slice(0, 5)}/${gone}/`)
    const other = another({ archive: { files, after: '30d' } })
    const reader = name === 'local' ? localClient(other) : httpClient({ url: URL_OF_SERVER, fetch: serve({ durably: other }), env })
    const [lost, whole] = await within(
      60_000,
      Promise.all([rejects(sequences(reader.subscribe(gone)), 'archive_gone', 'subscribe'), sequences(reader.subscribe(there))]),
    )
    expect(whole).toEqual(all)
    expect(lost).toMatchObject({ runId: gone, firstSequence: last + 1 })
    expect(await within(60_000, sequences(reader.subscribe(gone, { after: last })))).toEqual(all.slice(last))
    expect(await rejects(reader.getLogs(gone), 'archive_gone', 'getLogs')).toMatchObject({ runId: gone })
  })
})

test('a file that is gone is 410 with the first event that is left, for events and logs', async () => {
  const { another, files, id, ids, last } = await archived('local')
  const reader = another({ archive: { files, after: '30d' } })
  const { call } = reach(reader)
  expect((await call('GET', `/runs/${id}/logs`)).status).toBe(200)
  await files.remove(`${id.slice(0, 5)}/${id}/`)
  const other = reach(another({ archive: { files, after: '30d' } }))
  const refusal = {
    status: 410,
    body: { error: { code: 'archive_gone', firstSequence: last + 1, message: expect.stringContaining(`subscribe after ${last}`) } },
  }
  expect(await other.call('GET', `/runs/${id}/events`)).toMatchObject(refusal)
  expect(await other.call('GET', `/runs/${id}/events?after=1`)).toMatchObject(refusal)
  expect(await other.call('GET', `/events?run=${ids[1]}:0&run=${id}:0`)).toMatchObject(refusal)
  expect((await other.call('GET', `/runs/${id}/logs`)).body).toMatchObject({ error: { code: 'archive_gone' } })
  const rest = await other.handler(new Request(`http://durably.test/runs/${id}/events?after=${last}`))
  expect(rest.status).toBe(200)
  expect(await rest.text()).toContain(`id: ${last + 1}\n`)
})
