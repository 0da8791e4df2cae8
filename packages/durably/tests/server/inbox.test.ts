// Events over HTTP, and jobs of other processes.
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Authorize } from '../../src/server/index.ts'
import { refused, served } from './world.ts'

test('an event is sent, once for each dedupeKey', async () => {
  const { call, durably, soon } = await served('memory')
  const got: unknown[] = []
  durably.defineJob({ name: 'welcome', input: z.unknown(), on: 'user/created' }, async (_, data) => void got.push(data))
  const data = { at: new Date(5) }
  const first = await call('POST', '/inbox/user%2Fcreated', { body: { data, dedupeKey: 'k' } })
  expect(first).toMatchObject({ status: 202, body: { id: expect.any(String), isNew: true } })
  const { id } = first.body as { id: string }
  expect(await call('POST', '/inbox/other', { body: { data: 1, dedupeKey: 'k' } })).toMatchObject({
    status: 200,
    body: { id, isNew: false },
  })
  expect(await call('POST', '/inbox/other', { body: {}, headers: { 'Idempotency-Key': 'k' } })).toMatchObject({ status: 200, body: { id } })
  await soon(durably.processUntilIdle())
  expect(got).toEqual([data])
})

test('callers who may not send are refused, and authorize gets the name of the event', async () => {
  const authorize: Authorize = (_, action, run, jobName, schedule, eventName) =>
    action === 'events:send' && [run, jobName, schedule].every((one) => one === undefined) && eventName === 'mine'
  const { call, store } = await served('memory', { authorize })
  expect(await call('POST', '/inbox/other', { body: { data: 1 } })).toMatchObject(refused(403, 'forbidden', 'events:send'))
  expect(await store.cluster?.findEvents({ limit: 9 })).toEqual([])
  expect(await call('POST', '/inbox/mine', { body: { data: 1 } })).toMatchObject({ status: 202 })
})

test('principals do not share dedupe keys', async () => {
  const { call } = await served('memory', { principal: (request) => request.headers.get('X-User') ?? '' })
  const send = (user: string) => call('POST', '/inbox/a', { body: { data: 1, dedupeKey: 'k' }, headers: { 'X-User': user } })
  expect([(await send('ada')).status, (await send('bob')).status, (await send('ada')).status]).toEqual([202, 202, 200])
})

test('bad requests are refused', async () => {
  const { call } = await served('memory')
  expect(await call('POST', '/inbox/a', { body: { date: 1 } })).toMatchObject(refused(400, 'invalid_argument', 'did you mean "data"?'))
  expect(await call('POST', '/inbox/%00', { body: { data: 1 } })).toMatchObject(refused(400, 'invalid_name', 'event'))
  expect(await call('POST', '/inbox/a', { body: { data: 1, dedupeKey: 7 } })).toMatchObject(refused(400, 'invalid_name', 'dedupeKey'))
  expect(await call('GET', '/inbox/a')).toMatchObject(refused(405, 'method_not_allowed'))
})

test('settings are read and changed by version, and the principal is the actor', async () => {
  const authorize: Authorize = (request, action) => action === 'settings:read' || request.headers.get('X-User') === 'ada'
  const { call } = await served('memory', { authorize, principal: (request) => request.headers.get('X-User') ?? '' })
  const first = await call('GET', '/settings')
  expect(first).toMatchObject({ status: 200, body: { dedupeFor: 604_800_000, version: 0 } })
  expect(first.headers.get('ETag')).toBe('"0"')
  const patch = (user: string, version: number, body: object = { dedupeFor: '1d' }) =>
    call('PATCH', '/settings', { body, headers: { 'X-User': user, 'If-Match': `"${version}"` } })
  expect(await patch('bob', 0)).toMatchObject(refused(403, 'forbidden', 'settings:write'))
  expect(await patch('ada', 0)).toMatchObject({ status: 200, body: { dedupeFor: 86_400_000, version: 1, updatedBy: 'ada' } })
  expect(await patch('ada', 0)).toMatchObject(refused(412, 'version_mismatch'))
  expect(await patch('ada', 1, { dedupeFr: 1 })).toMatchObject(refused(400, 'invalid_argument', 'did you mean "dedupeFor"?'))
})

test('a job that only other processes define is triggered, if its workers have spoken of it', async () => {
  const { call, another, soon } = await served('memory')
  const worker = another({ publishJobs: true })
  worker.defineJob({ name: 'report', input: z.object({ month: z.string() }) }, async () => 'done')
  expect(await call('POST', '/runs', { body: { job: 'report', input: { month: '1' } } })).toMatchObject(refused(404, 'job_not_found'))
  await soon(worker.processUntilIdle())
  expect(await call('POST', '/runs', { body: { job: 'report', input: { month: 1 } } })).toMatchObject(
    refused(400, 'invalid_input', 'month'),
  )
  const batch = [{ payload: { month: '1' } }, { payload: { month: '2' } }]
  expect(await call('POST', '/runs', { body: { job: 'report', batch } })).toMatchObject({ status: 201 })
  expect(await soon(worker.processUntilIdle())).toBe(2)
})
