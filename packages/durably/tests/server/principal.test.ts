// The keys of a caller are its own: nobody meets them or waits for them, and it sees them as it gave them.
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import { gate } from '../engine/gate.ts'
import { Heard } from './sse.ts'
import { asRun, reach, refused, request, served } from './world.ts'

const principal = (request: Request) => request.headers.get('user') ?? ''
const as = (user: string) => ({ headers: { user } })
const post = (user: string, options: object) => ({ body: { job: 'greet', input: { to: user }, options }, ...as(user) })

test('who has the same concurrency key as somebody else does not wait for them', async () => {
  const durably = createDurably({ store: memoryStore(), concurrency: 10 })
  onTestFinished(() => durably.stop({ timeout: 0 }))
  const { opened, open } = gate()
  const started: string[] = []
  const job = durably.defineJob({ name: 'greet', input: z.object({ to: z.string() }) }, async (_, { to }) => {
    started.push(to)
    await opened
  })
  const { call } = reach(durably, { principal })
  for (const user of ['alice', 'bob', 'alice']) await call('POST', '/runs', post(user, { concurrencyKey: 'k' }))
  await job.trigger({ to: 'server' }, { concurrencyKey: 'k' })
  await job.trigger({ to: 'last' })
  durably.start()
  await expect.poll(() => started).toStrictEqual(['alice', 'bob', 'server', 'last'])
  open()
  await expect.poll(() => started).toStrictEqual(['alice', 'bob', 'server', 'last', 'alice'])
})

describe('keys are shown as they were given', () => {
  const KEYS = { idempotencyKey: 'i', concurrencyKey: 'c "quoted" ☃' }

  test('to the caller who gave them, wherever a run is shown', async () => {
    const { call, handler, durably, env, soon } = await served('memory', { principal })
    const created = asRun(await call('POST', '/runs', post('alice', KEYS)))
    expect(created).toMatchObject(KEYS)
    const { id } = created
    const batch = { job: 'greet', batch: [{ payload: { to: 'alice' }, options: KEYS }] }
    expect((await call('POST', '/runs', { body: batch, ...as('alice') })).body).toMatchObject({ runs: [{ id, ...KEYS }] })
    expect(await call('GET', `/runs/${id}`, as('alice'))).toMatchObject({ body: KEYS })
    expect(await call('GET', '/runs', as('alice'))).toMatchObject({ body: { runs: [KEYS] } })
    const feed = new Heard(await handler(request('GET', '/events', as('alice'))))
    await soon(feed.until(({ told }) => told.length > 0))
    expect(feed.told[0]?.data).toMatchObject({ runs: [KEYS] })
    await durably.cancel(id)
    await env.advance(1000)
    await soon(feed.until(({ told }) => told.length > 1))
    expect(feed.told[1]?.data).toMatchObject({ changed: [KEYS] })
    handler.close()
    expect(await call('GET', `/runs/${id}`, as('bob'))).toMatchObject({
      body: { idempotencyKey: '["alice","i"]', concurrencyKey: JSON.stringify(['alice', KEYS.concurrencyKey]) },
    })
    expect(await durably.getRun(id)).toMatchObject({ idempotencyKey: '["alice","i"]' })
  })

  test.each(['plain', '["alice"', '["alice",', '["alice",1]', '["alice","a","b"]', '["alice","a"] ', '[]'])(
    'those of the server itself stay what they are: %s',
    async (key) => {
      const { call, job } = await served('memory', { principal })
      const { id } = await job.trigger({ to: 1 }, { idempotencyKey: key, concurrencyKey: key })
      expect(await call('GET', `/runs/${id}`, as('alice'))).toMatchObject({ body: { idempotencyKey: key, concurrencyKey: key } })
      // A caller who gives the same text gives another key.
      expect(await call('POST', '/runs', post('alice', { idempotencyKey: key }))).toMatchObject({
        status: 201,
        body: { idempotencyKey: key },
      })
    },
  )

  test('without principals they are plain', async () => {
    const { call, durably } = await served('memory')
    const { id } = asRun(await call('POST', '/runs', post('alice', KEYS)))
    expect(await durably.getRun(id)).toMatchObject(KEYS)
  })
})

test.each(['idempotencyKey', 'concurrencyKey'])('a bad %s is refused as the caller knows it', async (field) => {
  const { call } = await served('memory', { principal })
  for (const key of ['', 'a\0b', 1, null, '\ud800', 'x'.repeat(513)])
    expect(await call('POST', '/runs', post('alice', { [field]: key }))).toMatchObject(refused(400, 'invalid_name', field))
  expect(await call('POST', '/runs', post('alice', { [field]: 'x'.repeat(505) }))).toMatchObject(
    refused(400, 'invalid_name', `${field} and the principal who gave it must be at most 512 bytes together, got 517`),
  )
})
