// Schedules and the leader over HTTP: the same as on the instance, for callers who may.
import { describe, expect, test } from 'vitest'
import type { Schedule } from '../../src/index.ts'
import type { Action, Authorize } from '../../src/server/index.ts'
import type { Store } from '../../src/store/store.ts'
import { asRun, reach, refused, served } from './world.ts'

const BODY = { job: 'greet', every: '1h', payload: { to: new Date(5) } } as const
const put = (body: object, headers: Record<string, string> = {}) => ({ body, headers })
const match = (version: number) => ({ headers: { 'If-Match': `"${version}"` } })
const asSchedule = ({ body }: { body: unknown }) => body as Schedule

describe('schedules', () => {
  test('are created, defined anew, read and deleted', async () => {
    const { call, durably } = await served('memory')
    const created = await call('PUT', '/schedules/a%2Fb', put({ ...BODY, labels: { tenant: 'acme' } }))
    expect(created).toMatchObject({ status: 201, body: { id: 'a/b', jobName: 'greet', every: 3_600_000, labels: { tenant: 'acme' } } })
    expect(created.body).toEqual(await durably.schedules.get('a/b'))
    expect(created.headers.get('ETag')).toBe(`"${asSchedule(created).version}"`)
    const again = await call('PUT', '/schedules/a%2Fb', put({ job: 'greet', cron: '0 3 * * *', payload: { to: 1 } }))
    expect(again).toMatchObject({ status: 200, body: { cron: '0 3 * * *', every: null, version: asSchedule(created).version + 1 } })
    expect(await call('GET', '/schedules/a%2Fb')).toMatchObject({ status: 200, body: again.body })
    expect(await call('DELETE', '/schedules/a%2Fb')).toMatchObject({ status: 204, body: undefined })
    expect(await call('GET', '/schedules/a%2Fb')).toMatchObject(refused(404, 'schedule_not_found', 'a/b'))
    expect(await call('DELETE', '/schedules/a%2Fb')).toMatchObject(refused(404, 'schedule_not_found', 'a/b'))
  })

  test('are listed page by page', async () => {
    const { call } = await served('memory')
    for (const id of ['c', 'a', 'b']) await call('PUT', `/schedules/${id}`, put(BODY))
    expect(await call('GET', '/schedules')).toMatchObject({
      body: { schedules: [{ id: 'a' }, { id: 'b' }, { id: 'c' }], nextCursor: null },
    })
    expect(await call('GET', '/schedules?limit=2')).toMatchObject({ body: { schedules: [{ id: 'a' }, { id: 'b' }], nextCursor: 'b' } })
    expect(await call('GET', '/schedules?limit=2&cursor=b')).toMatchObject({ body: { schedules: [{ id: 'c' }], nextCursor: null } })
    expect(await call('GET', '/schedules?limt=2')).toMatchObject(refused(400, 'invalid_argument', 'did you mean "limit"?'))
    expect(await call('GET', '/schedules?cursor=%00')).toMatchObject(refused(400, 'invalid_name', 'cursor'))
  })

  test('are listed until the values of a page are larger than 4 MiB', async () => {
    const { call, durably } = await served('memory')
    for (const id of ['a', 'b', 'c', 'd']) await durably.schedule(id, { ...BODY, payload: { to: id.repeat(2 ** 21) } })
    const ids = ({ body }: { body: unknown }) => {
      const { schedules, nextCursor } = body as { schedules: Schedule[]; nextCursor: string | null }
      return [schedules.map(({ id }) => id).join(''), nextCursor]
    }
    expect(ids(await call('GET', '/schedules'))).toEqual(['ab', 'b'])
    expect(ids(await call('GET', '/schedules?cursor=b'))).toEqual(['cd', 'd'])
    expect(ids(await call('GET', '/schedules?cursor=d'))).toEqual(['', null])
  })

  test('a schedule that was read can be sent back: an interval has the time zone UTC', async () => {
    const { call } = await served('memory')
    const { every, timezone } = asSchedule(await call('PUT', '/schedules/s', put(BODY)))
    expect(await call('PUT', '/schedules/s', put({ ...BODY, every, timezone }))).toMatchObject({ status: 200 })
  })

  test('are paused, resumed and triggered, and their next times are read', async () => {
    const { call, durably } = await served('memory')
    await call('PUT', '/schedules/s', put(BODY))
    expect(await call('POST', '/schedules/s/pause')).toMatchObject({ status: 200, body: { paused: true, nextAt: null } })
    expect(await call('POST', '/schedules/s/resume')).toMatchObject({ status: 200, body: { paused: false } })
    const triggered = await call('POST', '/schedules/s/trigger')
    const { id } = asRun(triggered)
    expect(triggered).toMatchObject({ status: 201, body: { scheduleId: 's', scheduledFor: null, payload: BODY.payload } })
    expect(triggered.headers.get('Location')).toBe(`/runs/${id}`)
    await durably.jobs.get('greet')?.trigger({ to: 2 })
    expect(await call('GET', '/runs?scheduleId=s')).toMatchObject({ body: { runs: [{ id }], nextCursor: null } })
    expect(await call('GET', '/schedules/s/next')).toMatchObject({ status: 200, body: { times: await durably.schedules.next('s') } })
    expect(await call('GET', '/schedules/s/next?count=2')).toMatchObject({ body: { times: await durably.schedules.next('s', 2) } })
    for (const count of ['', '0', '1001', 'x', '1.5'])
      expect(await call('GET', `/schedules/s/next?count=${count}`), count).toMatchObject(refused(400, 'invalid_argument', 'count'))
    expect(await call('GET', '/schedules/s/next?counts=1')).toMatchObject(refused(400, 'invalid_argument', 'did you mean "count"?'))
  })

  test('If-Match changes nothing that has another version, and the answer names both versions', async () => {
    const { call, durably } = await served('memory')
    const { version } = asSchedule(await call('PUT', '/schedules/s', put(BODY)))
    const before = await durably.schedules.get('s')
    const stale = match(version + 7)
    for (const [method, path, body] of [
      ['PUT', '', { ...BODY, every: '2h' }],
      ['PUT', '', BODY],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/trigger'],
      ['DELETE', ''],
    ] as [string, string, object?][]) {
      const answer = await call(method, `/schedules/s${path}`, { ...stale, body })
      expect(answer, method + path).toMatchObject(refused(412, 'version_mismatch'))
      expect(answer.body, method + path).toMatchObject({ error: { expected: version + 7, actual: version } })
    }
    expect(await durably.schedules.get('s')).toEqual(before)
    expect(await durably.getRuns()).toEqual([])
    expect(await call('PUT', '/schedules/s', { body: { ...BODY, every: '2h' }, ...match(version) })).toMatchObject({ status: 200 })
    expect(await call('PUT', '/schedules/s', { body: BODY, headers: { 'If-Match': '*' } })).toMatchObject({ status: 200 })
    expect(await call('POST', '/schedules/s/pause', { headers: { 'If-Match': '3' } })).toMatchObject(
      refused(400, 'invalid_argument', 'If-Match'),
    )
    for (const condition of ['*', '"1"'])
      expect(await call('PUT', '/schedules/new', put(BODY, { 'If-Match': condition }))).toMatchObject(refused(404, 'schedule_not_found'))
    expect(await durably.schedules.get('new')).toBeNull()
  })

  test.each([
    [{ ...BODY, crn: '* * * * *' }, 'invalid_argument', 'did you mean "cron"?'],
    [{ every: '1h' }, 'invalid_argument', 'job must be the name'],
    [{ job: { name: 'greet' }, every: '1h' }, 'invalid_argument', 'job must be the name'],
    [{ job: 'greet', payload: { to: 1 } }, 'invalid_argument', 'either cron or every'],
    [{ ...BODY, payload: 3 }, 'invalid_input', 'payload'],
    [{ job: 'greet', cron: 'often', payload: { to: 1 } }, 'invalid_argument', 'cron'],
    [{ job: 'greet', cron: '0 3 * * *', payload: { to: 1 }, timezone: 'Mars/Base' }, 'invalid_argument', 'Mars/Base'],
    [{ ...BODY, overlap: 'skipp' }, 'invalid_argument', 'did you mean "skip"?'],
    [{ ...BODY, idempotencyKey: 'k' }, 'invalid_argument', 'idempotencyKey'],
  ])('%j is refused', async (body, code, message) => {
    const { call, errors } = await served('memory', { principal: () => 'alice' })
    expect(await call('PUT', '/schedules/s', put(body))).toMatchObject(refused(400, code, message))
    expect(errors).toEqual([])
  })

  test('a store without schedules says so', async () => {
    const without = ({ cluster: _, ...store }: Store): Store => store
    const { call } = await served('memory', {}, { wrap: without })
    expect(await call('PUT', '/schedules/s', put(BODY))).toMatchObject(refused(501, 'schedules_unsupported'))
    expect(await call('GET', '/leader')).toMatchObject({ status: 200, body: { leader: null } })
  })

  test('the concurrency key is one of the principal, who sees it as given', async () => {
    const { call, durably } = await served('memory', { principal: (request) => request.headers.get('user') ?? '' })
    const alice = { user: 'alice' }
    expect(await call('PUT', '/schedules/s', put({ ...BODY, concurrencyKey: 'k' }, alice))).toMatchObject({ body: { concurrencyKey: 'k' } })
    expect(await durably.schedules.get('s')).toMatchObject({ concurrencyKey: '["alice","k"]' })
    expect(await call('GET', '/schedules', { headers: alice })).toMatchObject({ body: { schedules: [{ concurrencyKey: 'k' }] } })
    expect(await call('GET', '/schedules/s', { headers: { user: 'bob' } })).toMatchObject({ body: { concurrencyKey: '["alice","k"]' } })
    expect(await call('POST', '/schedules/s/trigger', { headers: alice })).toMatchObject({ body: { concurrencyKey: 'k' } })
  })
})

describe('authorize', () => {
  const OF_SCHEDULE: [string, string, Action, object?][] = [
    ['GET', '', 'schedules:read'],
    ['GET', '/next', 'schedules:read'],
    ['POST', '/pause', 'schedules:write'],
    ['POST', '/resume', 'schedules:write'],
    ['POST', '/trigger', 'schedules:trigger'],
    ['DELETE', '', 'schedules:write'],
  ]

  test('a schedule that may not be read answers exactly like one that does not exist', async () => {
    const { durably } = await served('memory')
    await durably.schedule('known', BODY)
    const { call } = reach(durably, { authorize: (_, action) => action !== 'schedules:read' })
    for (const [method, path] of OF_SCHEDULE) {
      const [denied, unknown] = [await call(method, `/schedules/known${path}`), await call(method, `/schedules/other${path}`)]
      expect(denied, path).toMatchObject(refused(404, 'schedule_not_found', 'known'))
      expect([...denied.headers], path).toStrictEqual([...unknown.headers])
      expect(JSON.stringify(denied.body).replaceAll('known', 'ID')).toBe(JSON.stringify(unknown.body).replaceAll('other', 'ID'))
    }
    expect(await call('GET', '/schedules')).toMatchObject({ body: { schedules: [], nextCursor: null } })
    expect(await call('PUT', '/schedules/known', put({ ...BODY, every: '2h' }))).toMatchObject(refused(403, 'forbidden', 'schedules:write'))
    expect(await durably.schedules.get('known')).toMatchObject({ every: 3_600_000, paused: false })
    expect(await durably.getRuns()).toEqual([])
  })

  test('what may be seen but not done is forbidden, and is not done', async () => {
    const { durably } = await served('memory')
    const before = await durably.schedule('known', BODY)
    const { call } = reach(durably, { authorize: (_, action) => action === 'schedules:read' })
    for (const [method, path, action] of OF_SCHEDULE.filter(([, , action]) => action !== 'schedules:read'))
      expect(await call(method, `/schedules/known${path}`), path).toMatchObject(refused(403, 'forbidden', action))
    for (const id of ['known', 'new'])
      expect(await call('PUT', `/schedules/${id}`, put({ ...BODY, every: '2h' }))).toMatchObject(
        refused(403, 'forbidden', 'schedules:write'),
      )
    expect(await call('GET', '/schedules')).toMatchObject(refused(403, 'forbidden', 'schedules:list'))
    expect(await call('GET', '/leader')).toMatchObject(refused(403, 'forbidden', 'cluster:read'))
    expect(await durably.schedules.list()).toEqual([before])
    expect(await durably.getRuns()).toEqual([])
  })

  test('it is given the job and the schedule, also the job that a schedule is to get', async () => {
    const { durably } = await served('memory')
    const labels = { tenant: 'acme' }
    await durably.schedule('mine', { ...BODY, labels })
    await durably.schedule('theirs', { ...BODY, labels: { tenant: 'other' } })
    const authorize: Authorize = (_, action, run, jobName, schedule) =>
      action === 'schedules:list' || (!run && jobName === 'greet' && (!schedule || schedule.labels.tenant === 'acme'))
    const { call } = reach(durably, { authorize })
    expect(await call('GET', '/schedules')).toMatchObject({ body: { schedules: [{ id: 'mine' }] } })
    expect(await call('POST', '/schedules/mine/pause')).toMatchObject({ status: 200 })
    expect(await call('POST', '/schedules/theirs/pause')).toMatchObject({ status: 404 })
    expect(await call('PUT', '/schedules/mine', put({ ...BODY, labels, job: 'secret' }))).toMatchObject(refused(403, 'forbidden'))
    expect(await call('PUT', '/schedules/new', put({ ...BODY, job: 'secret' }))).toMatchObject(refused(403, 'forbidden'))
    expect(await call('PUT', '/schedules/new', put(BODY))).toMatchObject({ status: 201 })
    expect(await durably.schedules.get('mine')).toMatchObject({ jobName: 'greet' })
  })

  test('a schedule that got another job after it was allowed is not changed', async () => {
    const { durably } = await served('memory')
    await durably.schedule('s', BODY)
    let isFirst = true
    const authorize: Authorize = async (_, action, __, jobName) => {
      if (action === 'schedules:write' && isFirst) {
        isFirst = false
        await durably.schedule('s', { job: 'secret', every: '1h' })
        return true
      }
      return jobName !== 'secret'
    }
    const { call } = reach(durably, { authorize })
    expect(await call('POST', '/schedules/s/pause')).toMatchObject(refused(404, 'schedule_not_found'))
    expect(await durably.schedules.get('s')).toMatchObject({ jobName: 'secret', paused: false })
  })
})

test('the leader is the process that fired the last schedule', async () => {
  const { call, durably, env } = await served('memory', {}, { workerId: 'worker-1' })
  expect(await call('GET', '/leader')).toMatchObject({ status: 200, body: { leader: null } })
  await durably.schedule('s', { ...BODY, every: '1s' })
  durably.start()
  await env.advance(1500)
  const { body } = await call('GET', '/leader')
  expect(body).toEqual({ leader: await durably.leader() })
  expect(body).toMatchObject({ leader: { epoch: 1, workerId: 'worker-1', electedAt: expect.stringContaining('T'), isLeading: true } })
  await durably.stop()
  expect(await durably.leader()).toMatchObject({ epoch: 1, isLeading: false })
})
