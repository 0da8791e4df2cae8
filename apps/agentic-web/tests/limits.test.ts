// What one user may take, over two servers: each limit is reached on both at once, and another user notices nothing.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openApp } from '../dist/app.js'
import { readConfig } from '../dist/config.js'
import { type PostgresServer, startPostgres } from '../dist/postgres/server.js'
import type { Listening } from '../dist/roles/listen.js'
import { serveApi } from '../dist/roles/serve-api.js'
import type { AcceptedRun } from '../dist/wire/run.js'
import type { ApiErrorBody } from '../dist/wire/service.js'
import { Client } from './rig/client.ts'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { until } from './rig/until.ts'
import { signedInUser, type TestUser } from './rig/users.ts'

const LIMITS = { REQUESTS_PER_MINUTE: '60', RUNS_PER_USER: '2', STREAMS_PER_USER: '3', BYTES_PER_USER: '1000' }

let postgres: PostgresServer
let one: OneProcess
let second: Listening
/** Requests go to both servers in turn. */
let both: Client
let ada: TestUser
let eve: TestUser
const ORIGIN = 'http://localhost:9'
beforeAll(async () => {
  postgres = await startPostgres({ own: true })
  one = await startOneProcess({
    DATABASE_URL: postgres.url,
    AUTH_MODE: 'password',
    PUBLIC_URL: ORIGIN,
    POLL_MS: '100',
    WORKER_CONCURRENCY: '16',
    ...LIMITS,
  })
  const other = openApp(one.app.config)
  const server = await serveApi(other, { role: 'api', port: 0 })
  second = { ...server, close: () => server.close().then(() => other.durably[Symbol.asyncDispose]()) }
  both = new Client(one.url, second.url)
}, 30_000)
beforeEach(async () => {
  const at = { app: one.app, client: both, url: ORIGIN }
  ada = await signedInUser(at, `ada-${Math.random()}@example.com`)
  eve = await signedInUser(at, `eve-${Math.random()}@example.com`)
})
afterAll(async () => {
  await second?.close()
  await one?.stop()
  await postgres?.stop()
})

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()

test('requests in a minute', async () => {
  // All but two of this minute, and of the next one if it begins meanwhile.
  const minute = 60_000
  const now = Date.now() - (Date.now() % minute)
  const rows = [now, now + minute].map((window_start) => ({ subject: `requests/${ada.userId}`, window_start, n: 58 }))
  await one.app.db.insertInto('agent_counters').values(rows).execute()
  const answers = await Promise.all(Array.from({ length: 8 }, () => ada.client.request<ApiErrorBody>('GET', '/sessions')))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(4)
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(2)
  expect(refused[0]).toMatchObject({ body: { error: { code: 'too_many_requests', message: expect.stringContaining('60 requests') } } })
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  expect((await eve.client.request('GET', '/sessions')).status).toBe(200)
})

test('messages that wait for an answer, in all sessions together', async () => {
  const sessions = await Promise.all(Array.from({ length: 5 }, () => ada.client.newSession()))
  const send = (session_id: string) => ada.client.request<AcceptedRun>('POST', '/runs', { body: { session_id, message: '!silent' } })
  const answers = await Promise.all(sessions.map(send))
  expect(statuses(answers)).toEqual([201, 201, 429, 429, 429])
  expect(answers.find(({ status }) => status === 429)).toMatchObject({
    body: { error: { code: 'too_many_runs', message: expect.stringContaining('2 of your') } },
  })
  expect(
    (await eve.client.request('POST', '/runs', { body: { session_id: await eve.client.newSession(), message: '!fast 1' } })).status,
  ).toBe(201)
  const [first] = answers.filter(({ status }) => status === 201)
  await ada.client.request('POST', `/runs/${first?.body.run_id}/cancel`)
  await until(async () => (await ada.client.run(first?.body.run_id ?? '')).status === 'cancelled')
  const session = sessions[answers.findIndex(({ status }) => status === 429)] ?? ''
  expect((await send(session)).status).toBe(201)
  for (const id of sessions) await ada.client.request('POST', `/sessions/${id}/cancel`)
})

test('event streams that are open: closed ones, ended runs and dead servers give their place back', async () => {
  const run = await ada.client.send(await ada.client.newSession(), '!silent')
  const open = async () => {
    const stop = new AbortController()
    const response = await ada.client.fetch(`/runs/${run}/events`, { signal: stop.signal })
    return { status: response.status, close: () => stop.abort() }
  }
  const streams = await Promise.all(Array.from({ length: 6 }, open))
  expect(statuses(streams)).toEqual([200, 200, 200, 429, 429, 429])
  streams.find(({ status }) => status === 200)?.close()
  const again = await until(async () => {
    const stream = await open()
    return stream.status === 200 && stream
  })
  expect((await open()).status).toBe(429)
  // As if the server of one of them had been killed.
  const [row] = await one.app.db.selectFrom('agent_streams').selectAll().where('user_id', '=', ada.userId).execute()
  await one.app.db
    .updateTable('agent_streams')
    .set({ expires_at: Date.now() - 1 })
    .where('stream_id', '=', row?.stream_id ?? '')
    .execute()
  expect((await open()).status).toBe(200)
  await ada.client.request('POST', `/runs/${run}/cancel`)
  const left = () =>
    one.app.db.selectFrom('agent_streams').selectAll().where('user_id', '=', ada.userId).where('expires_at', '>', Date.now()).execute()
  await until(async () => (await left()).length === 0)
  again.close()
})

test('an open stream ends when the user signs out, also on the other server', async () => {
  const run = await ada.client.send(await ada.client.newSession(), '!silent')
  const streams = await Promise.all([1, 2].map(() => ada.client.fetch(`/runs/${run}/events`)))
  const ended = Promise.all(streams.map((response) => response.text()))
  await ada.client.request('POST', '/auth/logout', { body: { everywhere: true } })
  for (const text of await ended) expect(text).not.toContain('event: done')
  await one.app.durably.cancel(run)
})

test('bytes in files, in all sessions together: the model is told, and nothing is written', async () => {
  const write = async (name: string, bytes: number) => {
    const session = await ada.client.newSession()
    const { results } = await ada.client.follow(await ada.client.send(session, `write ${name}: ${'x'.repeat(bytes)}`))
    return { session, result: [...results.values()].join() }
  }
  expect((await write('a.txt', 600)).result).not.toContain('quota_exceeded')
  const refused = await write('b.txt', 600)
  expect(refused.result).toMatch(/quota_exceeded: your sessions have 601 bytes .* 601, .* 1000/)
  const { body } = await ada.client.request<{ files: unknown[] }>('GET', `/sessions/${refused.session}/files`)
  expect(body.files).toEqual([])
  expect((await write('c.txt', 300)).result).not.toContain('quota_exceeded')
  const long = await ada.client.follow(await ada.client.send(await ada.client.newSession(), "run: printf '%060000d' 0"))
  expect(long.done).toBe('completed')
  const [kept] = await one.app.db.selectFrom('agent_artifacts').select('content').where('user_id', '=', ada.userId).execute()
  expect(Buffer.from(kept?.content ?? []).toString()).toContain('quota_exceeded')
}, 30_000)

test('one local user is not limited, unless the operator says so', () => {
  const env = { DATABASE_URL: 'file:x', DEMO_MODEL_URL: 'http://127.0.0.1', APP_KEYS: 'x' }
  expect(readConfig(env).limits.perUser).toEqual({ requestsPerMinute: Infinity, runs: Infinity, streams: Infinity, bytes: Infinity })
  expect(readConfig({ ...env, RUNS_PER_USER: '2' }).limits.perUser.runs).toBe(2)
  expect(readConfig({ ...env, AUTH_MODE: 'password' }).limits.perUser).toEqual({
    requestsPerMinute: 600,
    runs: 30,
    streams: 20,
    bytes: 268_435_456,
  })
})
