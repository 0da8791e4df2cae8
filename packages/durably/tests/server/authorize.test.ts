// Default deny: what a caller may not see does not exist for it, and what it may not do is refused.
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Run } from '../../src/index.ts'
import type { Action, Authorize } from '../../src/server/index.ts'
import { reach, refused, served } from './world.ts'

/** Each route, and the action that it needs. */
const OF_RUN: [string, string, Action, object?][] = [
  ['GET', '', 'runs:read'],
  ['GET', '/explain', 'runs:read'],
  ['GET', '/steps', 'runs:read'],
  ['GET', '/logs', 'runs:read'],
  ['POST', '/cancel', 'runs:cancel'],
  ['POST', '/retry', 'runs:retry'],
  ['POST', '/signals/s', 'runs:signal', { value: 1 }],
  ['POST', '/decisions/s', 'runs:decide', { decision: { done: 1 } }],
  ['DELETE', '', 'runs:delete'],
]
const OF_ALL: [string, string, Action, object?][] = [
  ['GET', '/runs', 'runs:list'],
  ['POST', '/runs', 'runs:trigger', { job: 'greet', input: { to: 1 } }],
  ['GET', '/jobs', 'jobs:list'],
  ['GET', '/stats', 'stats:read'],
]

const recipient = (run?: Run) => (run?.payload as { to: unknown } | undefined)?.to

test('a run that may not be read answers exactly like one that does not exist', async () => {
  const { durably, job } = await served('memory')
  const { id } = await job.trigger({ to: 1 })
  const { call } = reach(durably, { authorize: (_, action) => action !== 'runs:read' })
  for (const [method, path, , body] of OF_RUN) {
    const denied = await call(method, `/runs/${id}${path}`, { body })
    const unknown = await call(method, `/runs/0${id.slice(1)}${path}`, { body })
    expect(denied, path).toMatchObject(refused(404, 'run_not_found', id))
    expect([...denied.headers], path).toStrictEqual([...unknown.headers])
    expect(JSON.stringify(denied.body).replaceAll(id, 'ID')).toBe(JSON.stringify(unknown.body).replaceAll(`0${id.slice(1)}`, 'ID'))
  }
  expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
})

test('what may be seen but not done is forbidden, and is not done', async () => {
  const { durably, job } = await served('memory')
  const { id } = await job.trigger({ to: 1 })
  const asked: Action[] = []
  const { call } = reach(durably, {
    authorize: (_, action) => {
      asked.push(action)
      return action === 'runs:read'
    },
  })
  for (const [method, path, action, body] of OF_RUN.filter(([, , action]) => action !== 'runs:read')) {
    expect(await call(method, `/runs/${id}${path}`, { body }), path).toMatchObject(refused(403, 'forbidden', action))
  }
  for (const [method, path, action, body] of OF_ALL)
    expect(await call(method, path, { body }), path).toMatchObject(refused(403, 'forbidden', action))
  expect(new Set(asked)).toStrictEqual(new Set([...OF_RUN, ...OF_ALL].map(([, , action]) => action)))
  expect(await durably.getRuns()).toMatchObject([{ id, status: 'pending' }])
})

test('it is given the request and the run', async () => {
  const { durably, job } = await served('memory')
  const { id } = await job.trigger({ to: 'alice' })
  const authorize: Authorize = async (request, action, run) => action === 'runs:read' && recipient(run) === request.headers.get('user')
  const { call } = reach(durably, { authorize })
  expect(await call('GET', `/runs/${id}`, { headers: { user: 'alice' } })).toMatchObject({ status: 200 })
  expect(await call('GET', `/runs/${id}`, { headers: { user: 'bob' } })).toMatchObject({ status: 404 })
})

test('a run that the caller may not read is not named as what another one waits for', async () => {
  const { durably, soon, env } = await served('memory', {}, { concurrency: 2 })
  const hold = durably.defineJob({ name: 'hold', input: z.object({ to: z.string() }) }, () => new Promise(() => {}))
  const parent = durably.defineJob({ name: 'parent', input: z.object({ to: z.string() }) }, (ctx) =>
    ctx.invoke(hold, { to: 'bob' }, { name: 'ask' }),
  )
  const holder = await hold.trigger({ to: 'bob' }, { concurrencyKey: 'k' })
  const { id } = await hold.trigger({ to: 'alice' }, { concurrencyKey: 'k' })
  const asking = await parent.trigger({ to: 'alice' })
  durably.start()
  await env.advance(1000)
  const authorize: Authorize = (request, _, run) => recipient(run) === request.headers.get('user') || request.headers.get('user') === 'all'
  const { call } = reach(durably, { authorize })
  const [alice, everybody] = ['alice', 'all'].map((user) => ({ headers: { user } }))
  const child = (await durably.getRuns({ jobName: 'hold' }))[0]?.id
  for (const path of ['', '/explain']) {
    const seen = await soon(Promise.all([id, asking.id].map((run) => call('GET', `/runs/${run}${path}`, alice))))
    for (const other of [holder.id, child]) expect(JSON.stringify(seen)).not.toContain(other)
  }
  expect((await call('GET', `/runs/${id}`, alice)).body).toMatchObject({ waitingFor: { kind: 'key', heldBy: null } })
  expect((await call('GET', `/runs/${asking.id}`, alice)).body).toMatchObject({ waitingFor: { kind: 'child', runId: null, jobName: null } })
  expect((await call('GET', `/runs/${id}/explain`, alice)).body).toMatchObject({
    ...{ cause: 'key', actor: 'reader', remedy: { do: 'ask' } },
    chain: [{ runId: id, waitingFor: [{ kind: 'key', heldBy: null }] }],
  })
  expect((await call('GET', `/runs/${id}`, everybody)).body).toMatchObject({ waitingFor: { kind: 'key', heldBy: holder.id } })
  expect((await call('GET', `/runs/${asking.id}/explain`, everybody)).body).toMatchObject({
    ...{ cause: 'executing', chain: [{ runId: asking.id, cause: 'child' }, { runId: child }] },
  })
})

test('it is given the job: the one that shall be triggered, by one or by many, and that of a run', async () => {
  const { durably, job } = await served('memory')
  const secret = durably.defineJob({ name: 'secret', input: z.unknown() }, () => {})
  const { id } = await secret.trigger({})
  const asked: [Action, string | undefined][] = []
  const { call } = reach(durably, {
    authorize: (_, action, _run, jobName) => {
      asked.push([action, jobName])
      return jobName === undefined || jobName === 'greet'
    },
  })
  expect(await call('POST', '/runs', { body: { job: 'greet', input: { to: 1 } } })).toMatchObject({ status: 201 })
  expect(await call('POST', '/runs', { body: { job: 'greet', batch: [{ payload: { to: 1 } }, { payload: { to: 2 } }] } })).toMatchObject({
    status: 201,
  })
  // Nor does it tell which jobs there are, or what their input must be.
  for (const body of [
    { job: 'secret', input: {} },
    { job: 'secret', batch: [{ payload: {} }] },
    { job: 'nobody', input: {} },
  ])
    expect(await call('POST', '/runs', { body })).toMatchObject(refused(403, 'forbidden', 'runs:trigger'))
  expect(await call('GET', `/runs/${id}`)).toMatchObject(refused(404, 'run_not_found'))
  expect((await call('GET', '/runs')).body).toMatchObject({ runs: [{ jobName: 'greet' }, { jobName: 'greet' }, { jobName: 'greet' }] })
  expect(new Set(asked.map((one) => one.join(' ')))).toStrictEqual(
    new Set([
      ...['greet', 'secret', 'nobody'].map((name) => `runs:trigger ${name}`),
      ...['greet', 'secret'].map((name) => `runs:read ${name}`),
      'runs:list ',
    ]),
  )
  expect(await durably.getRuns({ jobName: 'secret' })).toHaveLength(1)
  expect(await job.getRuns()).toHaveLength(3)
})

test.each([undefined, 'yes', 1, {}])('only true allows, not %s', async (answer) => {
  const { durably } = await served('memory')
  const { call } = reach(durably, { authorize: (() => answer) as never })
  expect(await call('GET', '/runs')).toMatchObject(refused(403, 'forbidden'))
})

test('an error in it allows nothing, is not shown to the caller and is reported', async () => {
  const { durably } = await served('memory')
  const secret = new Error('the password is 1234')
  const { call, errors } = reach(durably, { authorize: () => Promise.reject(secret) })
  const answer = await call('GET', '/runs')
  expect(answer).toMatchObject(refused(500, 'internal'))
  expect(JSON.stringify(answer.body)).not.toContain('1234')
  expect(errors).toStrictEqual([secret])
})

test('pages are filled up with runs that may be read', async () => {
  const { durably, job } = await served('memory')
  for (let to = 0; to < 30; to++) await job.trigger({ to })
  const { call } = reach(durably, {
    authorize: (_, action, run) => action === 'runs:list' || Number(recipient(run)) % 10 === 0,
  })
  const { body } = await call('GET', '/runs?limit=2')
  expect(body).toMatchObject({ runs: [{ payload: { to: 20 } }, { payload: { to: 10 } }] })
  const { nextCursor } = body as { nextCursor: string }
  expect((await call('GET', `/runs?limit=2&cursor=${nextCursor}`)).body).toMatchObject({ runs: [{ payload: { to: 0 } }], nextCursor: null })
})

test('who may read almost nothing gets a cursor, not an endless search', async () => {
  const { durably, job } = await served('memory')
  await job.batchTrigger(Array.from({ length: 45 }, (_, to) => ({ payload: { to } })))
  const { call } = reach(durably, { authorize: (_, action) => action === 'runs:list' })
  const { body } = await call('GET', '/runs?limit=2')
  expect(body).toStrictEqual({ runs: [], nextCursor: expect.any(String), previousCursor: null })
  const { nextCursor } = body as { nextCursor: string }
  expect((await call('GET', `/runs?limit=2&cursor=${nextCursor}`)).body).toStrictEqual({ runs: [], nextCursor: null, previousCursor: null })
})
