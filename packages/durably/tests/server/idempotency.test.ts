// One Idempotency-Key, one run: however often, however many at once, whoever asks.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { postgres } from '../../src/postgres/index.ts'
import { WORLDS } from '../engine/world.ts'
import { temporaryDatabase } from '../postgres/place.ts'
import { type Answer, asRun, reach, refused, served } from './world.ts'

const post = (to: unknown, key: string, headers = {}) => ({
  body: { job: 'greet', input: { to } },
  headers: { 'Idempotency-Key': key, ...headers },
})

function expectOneRun(answers: Answer[]): void {
  expect(new Set(answers.map((answer) => asRun(answer).id)).size).toBe(1)
  expect(answers.map(({ status }) => status).sort()).toStrictEqual([...Array(99).fill(200), 201])
}

describe.each(WORLDS)('an idempotency key (%s)', (name) => {
  test('a hundred posts at once make one run; another input is a conflict', async () => {
    const { call, durably, soon } = await served(name)
    expectOneRun(await soon(Promise.all(Array.from({ length: 100 }, () => call('POST', '/runs', post('you', 'k'))))))
    expect(await call('POST', '/runs', post('me', 'k'))).toMatchObject(refused(409, 'idempotency_conflict'))
    expect(await durably.getRuns()).toHaveLength(1)
  })

  test('of a hundred posts with two inputs one input wins', async () => {
    const { call, durably, soon } = await served(name)
    const answers = await soon(Promise.all(Array.from({ length: 100 }, (_, i) => call('POST', '/runs', post(i % 2, 'k')))))
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([...Array(49).fill(200), 201, ...Array(50).fill(409)])
    expect(await durably.getRuns()).toHaveLength(1)
  })
})

test('a hundred posts at once make one run on Postgres', async () => {
  const url = await temporaryDatabase()
  await using durably = createDurably({ dialect: postgres(url) })
  await durably.migrate()
  durably.defineJob({ name: 'greet', input: z.object({ to: z.unknown() }) }, () => {})
  const { call } = reach(durably)
  expectOneRun(await Promise.all(Array.from({ length: 100 }, () => call('POST', '/runs', post('you', 'k')))))
  expect(await call('POST', '/runs', post('me', 'k'))).toMatchObject(refused(409, 'idempotency_conflict'))
  expect(await durably.getRuns()).toHaveLength(1)
})

test('the header and the option are one thing', async () => {
  const { call } = await served('memory')
  const both = (option: string) => ({ ...post(1, 'k'), body: { job: 'greet', input: { to: 1 }, options: { idempotencyKey: option } } })
  const { id } = asRun(await call('POST', '/runs', both('k')))
  expect(await call('POST', '/runs', { body: both('k').body })).toMatchObject({ status: 200, body: { id, idempotencyKey: 'k' } })
  expect(await call('POST', '/runs', both('other'))).toMatchObject(refused(400, 'invalid_argument', 'differ'))
})

test('each principal has idempotency keys of its own', async () => {
  const { call } = await served('memory', { principal: (request) => request.headers.get('user') ?? '' })
  const alice = asRun(await call('POST', '/runs', post(1, 'k', { user: 'alice' })))
  const bob = await call('POST', '/runs', post(2, 'k', { user: 'bob' }))
  expect(bob.status).toBe(201)
  expect(await call('POST', '/runs', post(1, 'k', { user: 'alice' }))).toMatchObject({ status: 200, body: { id: alice.id } })
  const batch = { job: 'greet', batch: [{ payload: { to: 1 }, options: { idempotencyKey: 'k' } }] }
  const { body } = await call('POST', '/runs', { body: batch, headers: { user: 'alice' } })
  expect(body).toMatchObject({ runs: [{ id: alice.id }] })
})

test('a key whose run the caller may not read gives nothing away', async () => {
  const { durably, job } = await served('memory')
  await job.trigger({ to: 1 }, { idempotencyKey: 'k' })
  const { call } = reach(durably, { authorize: (_, action) => action !== 'runs:read' })
  const conflict = refused(409, 'idempotency_conflict')
  expect(await call('POST', '/runs', post(1, 'k'))).toMatchObject(conflict)
  const batch = { job: 'greet', batch: [{ payload: { to: 1 }, options: { idempotencyKey: 'k' } }] }
  expect(await call('POST', '/runs', { body: batch })).toMatchObject(conflict)
})
