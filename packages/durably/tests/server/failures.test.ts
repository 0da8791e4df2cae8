// Of what went wrong a caller learns the message, not where the server keeps its files.
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ServerOptions } from '../../src/server/index.ts'
import { Heard } from './sse.ts'
import { request, served } from './world.ts'

const SECRET = 'connect ECONNREFUSED 10.0.0.7:5432'

async function failed(options: Partial<ServerOptions>) {
  const world = await served('memory', options)
  const { durably, handler, soon } = world
  const job = durably.defineJob({ name: 'fails', input: z.unknown() }, (ctx) =>
    ctx.run('charge', () => {
      throw Object.assign(new TypeError('the card was declined', { cause: new Error(SECRET) }), { code: 'E_CARD' })
    }),
  )
  const { id } = await job.trigger({}, { idempotencyKey: 'k' })
  await soon(durably.processUntilIdle())
  const get = async (path: string, headers = {}) => {
    const response = await handler(request('GET', path, { headers }))
    if (response.headers.get('Content-Type') !== 'text/event-stream') return response.text()
    const heard = new Heard(response)
    await soon(heard.until(({ told }) => told.length > 0))
    return JSON.stringify(heard.told)
  }
  const again = await handler(request('POST', '/runs', { body: { job: 'fails', input: {}, options: { idempotencyKey: 'k' } } }))
  return { ...world, get, id, again: await again.text() }
}

const eventsIn = (told: string) => JSON.parse(told).map(({ data }: { data: unknown }) => data) as { type: string; failure?: unknown }[]

const SHOWN = { name: 'TypeError', message: 'the card was declined', code: 'E_CARD' }

test('stacks and causes stay on the server, on every route', async () => {
  const { get, id, again, handler } = await failed({})
  expect(JSON.parse(await get(`/runs/${id}`))).toMatchObject({ error: 'the card was declined', reason: 'error' })
  expect(JSON.parse(await get(`/runs/${id}`)).failure).toStrictEqual(SHOWN)
  expect(JSON.parse(await get(`/runs/${id}/steps`)).steps[0]).toMatchObject({ error: 'the card was declined' })
  expect(JSON.parse(await get(`/runs/${id}/steps`)).steps[0].failure).toStrictEqual(SHOWN)
  for (const path of [`/runs/${id}/events`, `/events?run=${id}`]) {
    const failures = eventsIn(await get(path)).flatMap(({ type, failure }) => (failure ? [[type, failure]] : []))
    expect(failures).toStrictEqual([
      ['step:fail', SHOWN],
      ['run:fail', SHOWN],
    ])
  }
  const paths = [`/runs/${id}`, `/runs/${id}/steps`, `/runs/${id}/logs`, `/runs/${id}/events`, `/events?run=${id}`, '/runs', '/events']
  for (const text of [again, ...(await Promise.all(paths.map((path) => get(path))))]) {
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain('"stack"')
    expect(text).not.toContain('.test.ts')
  }
  handler.close()
})

test.each([
  ['to all', true, [true, true]],
  ['to some', (request: Request) => request.headers.get('user') === 'admin', [true, false]],
  ['to some, told later', async (request: Request) => request.headers.get('user') === 'admin', [true, false]],
  ['to nobody', false, [false, false]],
  ['to nobody, for only true is yes', (() => 'yes') as never, [false, false]],
])('exposeFailures shows them %s', async (_, exposeFailures, seen) => {
  const { get, id } = await failed({ exposeFailures })
  const users = ['admin', 'guest'].map((user) => ({ user }))
  for (const path of [`/runs/${id}`, `/runs/${id}/steps`, '/runs', `/runs/${id}/events`, `/events?run=${id}`]) {
    const texts = await Promise.all(users.map((headers) => get(path, headers)))
    expect(texts.map((text) => text.includes(SECRET) && text.includes('.test.ts'))).toStrictEqual(seen)
  }
})
