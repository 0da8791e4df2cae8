// Each route once, on memory and on SQLite: what it answers, and that values arrive as the jobs see them.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { durablyHandler } from '../../src/server/index.ts'
import { WORLDS } from '../engine/world.ts'
import { asRun, reach, refused, served } from './world.ts'

describe.each(WORLDS)('the routes (%s)', (name) => {
  test('a run is triggered, found, executed and looked at', async () => {
    const { call, durably, soon } = await served(name)
    const created = await call('POST', '/runs', { body: { job: 'greet', input: { to: 'you' } } })
    const run = asRun(created)
    expect(created).toMatchObject({ status: 201, body: { jobName: 'greet', payload: { to: 'you' }, status: 'pending' } })
    expect(created.headers.get('Location')).toBe(`/runs/${run.id}`)
    await soon(durably.processUntilIdle())

    const found = await call('GET', `/runs/${run.id}`)
    expect(found).toMatchObject({ status: 200, body: await durably.getRun(run.id) })
    expect(asRun(found)).toMatchObject({ status: 'completed', output: 'hello you' })
    expect(found.headers.get('ETag')).toBe(`"${asRun(found).version}"`)
    expect(found.headers.get('Cache-Control')).toBe('no-store')
    expect((await call('GET', `/runs/${run.id}/steps`)).body).toStrictEqual({ steps: await durably.getSteps(run.id), nextCursor: null })
    expect((await call('GET', `/runs/${run.id}/logs`)).body).toStrictEqual({ logs: await durably.getLogs(run.id), nextCursor: null })
    expect((await call('GET', '/stats')).body).toStrictEqual({ counts: await durably.countsByPhase() })
    expect(await call('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })

  test('values keep their types on both ways', async () => {
    const { call, durably } = await served(name)
    const to = {
      at: new Date(0),
      big: 12n,
      set: new Set([1]),
      map: new Map([['a', undefined]]),
      bytes: new Uint8Array([1, 2]),
      no: undefined,
    }
    const run = asRun(await call('POST', '/runs', { body: { job: 'greet', input: { to } } }))
    expect(run.payload).toStrictEqual({ to })
    expect((await durably.getRun(run.id))?.payload).toStrictEqual({ to })
  })

  test('a batch is stored as a whole or not at all', async () => {
    const { call, durably } = await served(name)
    const batch = [1, 2, 3].map((to) => ({ payload: { to }, options: { concurrencyKey: 'k' } }))
    const { status, body } = await call('POST', '/runs', { body: { job: 'greet', batch } })
    expect(status).toBe(201)
    expect((body as { runs: unknown[] }).runs).toMatchObject([1, 2, 3].map((to) => ({ payload: { to }, concurrencyKey: 'k' })))
    const wrong = await call('POST', '/runs', { body: { job: 'greet', batch: [...batch, { payload: 'no object' }] } })
    expect(wrong).toMatchObject(refused(400, 'invalid_input', 'item 3'))
    expect(await durably.getRuns()).toHaveLength(3)
  })

  test('due times and deadlines arrive', async () => {
    const { call, env } = await served(name)
    const options = { runAt: new Date(env.wall() + 60_000), deadline: '2h' }
    const run = asRun(await call('POST', '/runs', { body: { job: 'greet', input: { to: 1 }, options } }))
    expect(run).toMatchObject({ phase: 'sleeping', runAt: options.runAt.toISOString() })
    expect(run.deadlineAt).toBe(new Date(env.wall() + 7_200_000).toISOString())
  })

  test('pages go from the newest run to the oldest', async () => {
    const { call, job } = await served(name)
    const ids: string[] = []
    for (let to = 0; to < 5; to++) ids.unshift((await job.trigger({ to })).id)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await call('GET', `/runs?limit=2&job=greet&status=pending${cursor && `&cursor=${cursor}`}`)
      const page = body as { runs: { id: string }[]; nextCursor: string | null }
      seen.push(...page.runs.map(({ id }) => id))
      cursor = page.nextCursor
    }
    expect(seen).toStrictEqual(ids)
    expect((await call('GET', '/runs?status=failed')).body).toStrictEqual({ runs: [], nextCursor: null, previousCursor: null })
  })

  test('cancel, retry and delete, each only of the version that was seen', async () => {
    const { call, durably, job, soon } = await served(name)
    durably.defineJob({ name: 'fails', input: z.unknown() }, () => Promise.reject(new Error('no')))
    const { id } = await job.trigger({ to: 1 })
    const stale = { headers: { 'If-Match': '"77"' } }
    expect(await call('POST', `/runs/${id}/cancel`, stale)).toMatchObject(refused(412, 'version_mismatch', '77'))
    const seen = { headers: { 'If-Match': '"0"' } }
    expect(await call('POST', `/runs/${id}/cancel`, seen)).toMatchObject({ status: 200, body: { outcome: 'cancelled' } })
    expect(await call('POST', `/runs/${id}/retry`)).toMatchObject(refused(409, 'run_not_retryable'))
    expect(await call('DELETE', `/runs/${id}`, stale)).toMatchObject(refused(412, 'version_mismatch'))
    expect(await call('DELETE', `/runs/${id}`, { headers: { 'If-Match': '*' } })).toMatchObject({ status: 204, body: undefined })
    expect(await call('GET', `/runs/${id}`)).toMatchObject(refused(404, 'run_not_found'))

    const failed = asRun(await call('POST', '/runs', { body: { job: 'fails' } }))
    expect(await call('DELETE', `/runs/${failed.id}`)).toMatchObject(refused(409, 'run_active'))
    await soon(durably.processUntilIdle())
    expect(await call('POST', `/runs/${failed.id}/retry`, stale)).toMatchObject(refused(412, 'version_mismatch'))
    expect(await call('POST', `/runs/${failed.id}/retry`)).toMatchObject({ status: 200, body: { id: failed.id, status: 'pending' } })
  })

  test('signals and decisions reach the run, under any name', async () => {
    const { call, durably, soon } = await served(name)
    const text = 'a/b ?#% ü'
    const waits = durably.defineJob({ name: 'waits', input: z.unknown() }, (ctx) => ctx.waitFor(text))
    const { id } = await waits.trigger({})
    await soon(durably.processUntilIdle())
    const path = `/runs/${id}/signals/${encodeURIComponent(text)}`
    const keyed = { body: { value: new Date(1) }, headers: { 'Idempotency-Key': 'k' } }
    expect(await call('POST', path, keyed)).toMatchObject({ status: 202, body: {} })
    expect(await call('POST', path, keyed)).toMatchObject({ status: 202, body: {} })
    expect(await call('POST', path, { body: { value: 2 } })).toMatchObject(refused(409, 'signal_taken'))
    await soon(durably.processUntilIdle())
    expect((await durably.getRun(id))?.output).toStrictEqual(new Date(1))
    expect(await call('POST', `/runs/${id}/signals/late`, { body: { value: 2 } })).toMatchObject(refused(409, 'run_ended'))
    const decision = { body: { decision: { done: 1 } } }
    expect(await call('POST', `/runs/${id}/decisions/charge`, decision)).toMatchObject(
      refused(400, 'invalid_argument', 'waits for no decision'),
    )
    expect(await call('POST', `/runs/${id}/decisions/charge`, { body: {} })).toMatchObject(refused(400, 'invalid_argument'))
  })
})

test('jobs are listed with the JSON Schema of their inputs', async () => {
  const { call, durably } = await served('memory')
  durably.defineJob({ name: 'dated', input: z.object({ at: z.date() }) }, () => {})
  const { body } = await call('GET', '/jobs')
  expect(body).toMatchObject({
    jobs: [
      { name: 'greet', input: { type: 'object', required: ['to'] } },
      { name: 'dated', input: null },
    ],
  })
})

test('routes lie under the base path, and nowhere else', async () => {
  const { durably, job } = await served('memory')
  const { call } = reach(durably, { basePath: '/api/durably/' })
  const { id } = await job.trigger({ to: 1 })
  expect(await call('GET', `/api/durably/runs/${id}`)).toMatchObject({ status: 200 })
  const created = await call('POST', '/api/durably/runs', { body: { job: 'greet', input: { to: 1 } } })
  expect(created.headers.get('Location')).toBe(`/api/durably/runs/${asRun(created).id}`)
  for (const path of ['/runs', '/api/durably', '/api/durably/', '/api/durablyruns', '/api/durably/runs/', '/api/durably/nothing', '//runs'])
    expect(await call('GET', path), path).toMatchObject(refused(404, 'not_found'))
})

test('a method that is not possible is refused with those that are', async () => {
  const { call } = await served('memory')
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'toString']) {
    const answer = await call(method, '/runs/x')
    expect(answer, method).toMatchObject(refused(405, 'method_not_allowed'))
    expect(answer.headers.get('Allow')).toBe('GET, DELETE')
  }
})

test('a deeply nested value of a run in process can be read over HTTP', async () => {
  const { call, job } = await served('memory')
  let deep: unknown = []
  for (let i = 0; i < 497; i++) deep = [deep]
  const { id } = await job.trigger({ to: deep })
  expect(await call('GET', '/runs')).toMatchObject({ status: 200, body: { runs: [{ id }] } })
})

test('options that cannot be are refused when the server is made', async () => {
  const { durably } = await served('memory')
  const make = (options: object) => () => durablyHandler(durably, options as never)
  const authorize = () => true
  expect(make({})).toThrow(expect.objectContaining({ code: 'invalid_config', message: expect.stringContaining('allowAll()') }))
  for (const options of [{ basePath: 'api' }, { allowedOrigins: ['example.com'] }, { maxBodyBytes: 0 }, { maxStreams: 0.5 }])
    expect(make({ authorize, ...options })).toThrow(expect.objectContaining({ code: 'invalid_config' }))
})
