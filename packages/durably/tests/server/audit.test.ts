// The audit over HTTP: the principal is the actor, whatever a request says of itself.
import { expect, test } from 'vitest'
import { refused, served } from './world.ts'

const principal = (request: Request) => request.headers.get('user') ?? ''
const as = (user: string, body?: unknown) => ({ headers: { user }, ...(body !== undefined && { body }) })

test('what a principal does is recorded under its name', async () => {
  const { call, job, durably, soon } = await served('memory', { principal })
  const { id } = await job.trigger({ to: 'world' })
  await soon(durably.processUntilIdle())
  const [pending, other] = await job.batchTrigger([{ payload: { to: 'a' } }, { payload: { to: 'b' } }])
  await call('PUT', '/schedules/nightly', as('ada', { job: 'greet', every: '1h', payload: { to: 'p' } }))
  await call('POST', '/schedules/nightly/pause', as('ada'))
  await call('POST', '/schedules/nightly/resume', as('ada'))
  await call('POST', '/schedules/nightly/trigger', as('ada'))
  await call('DELETE', '/schedules/nightly', as('ada'))
  await call('POST', `/runs/${pending?.id}/signals/go`, as('bob', { value: 1 }))
  await call('POST', `/runs/${pending?.id}/cancel`, as('bob'))
  await call('POST', '/runs/cancel', as('bob', { filter: { jobName: 'greet' }, limit: 1 }))
  await call('DELETE', `/runs/${id}`, as('bob'))
  await call('PATCH', '/settings', as('bob', { dedupeFor: '1d' }))
  const { status, body } = await call('GET', '/audit', as('eve'))
  expect(status).toBe(200)
  const { entries, nextCursor } = body as { entries: { actor: string; action: string; target: { id: string } }[]; nextCursor: null }
  expect(nextCursor).toBeNull()
  expect(entries.map(({ actor, action, target }) => [actor, action, target.id]).toReversed()).toEqual([
    ['ada', 'schedule:put', 'nightly'],
    ['ada', 'schedule:pause', 'nightly'],
    ['ada', 'schedule:resume', 'nightly'],
    ['ada', 'schedule:trigger', 'nightly'],
    ['ada', 'schedule:delete', 'nightly'],
    ['bob', 'run:signal', pending?.id],
    ['bob', 'run:cancel', pending?.id],
    ['bob', 'run:cancel', other?.id],
    ['bob', 'run:delete', id],
    ['bob', 'settings:set', 'settings'],
  ])
})

test('a body cannot name another actor', async () => {
  const { call, job, durably } = await served('memory', { principal })
  const { id } = await job.trigger({ to: 'world' })
  for (const [method, path, body] of [
    ['POST', `/runs/${id}/signals/go`, { value: 1, actor: 'ada' }],
    ['POST', `/runs/${id}/decisions/step`, { decision: 'run again', actor: 'ada' }],
    ['POST', '/runs/cancel', { filter: {}, actor: 'ada' }],
    ['PATCH', '/settings', { dedupeFor: '1d', actor: 'ada' }],
    ['PUT', '/schedules/nightly', { job: 'greet', every: '1h', payload: { to: 'p' }, actor: 'ada' }],
  ] as const)
    expect(await call(method, path, as('eve', body)), path).toMatchObject(refused(400, 'invalid_argument', 'actor'))
  await call('POST', `/runs/${id}/cancel`, as('eve', { actor: 'ada' }))
  expect((await durably.audit.list()).map(({ actor }) => actor)).toEqual(['eve'])
})

test('without principals nobody is named, and nothing is recorded', async () => {
  for (const options of [{}, { principal: () => '' }]) {
    const { call, job, durably } = await served('memory', options)
    const { id } = await job.trigger({ to: 'world' })
    expect(await call('POST', `/runs/${id}/cancel`)).toMatchObject({ status: 200 })
    expect(await durably.audit.list()).toEqual([])
  }
})

test('entries are found by their conditions, page by page, by those who may read them', async () => {
  const { call, job, durably, env } = await served('memory', { authorize: (_, action) => action === 'audit:read' })
  const began = env.wall()
  for (const id of ['a', 'b', 'c']) {
    await durably.schedule(id, { job, every: '1h', payload: { to: id } }, { actor: `by ${id}` })
    await env.advance(1000)
  }
  const ids = async (query: string) => {
    const { body } = await call('GET', `/audit${query}`)
    return (body as { entries: { target: { id: string } }[] }).entries.map(({ target }) => target.id)
  }
  expect(await ids('?kind=schedule&id=a')).toEqual(['a'])
  expect(await ids('?actor=by%20b')).toEqual(['b'])
  expect(await ids('?action=schedule:put&limit=2')).toEqual(['c', 'b'])
  expect(await ids(`?after=${began + 1000}`)).toEqual(['c', 'b'])
  expect(await ids(`?before=${new Date(began + 1000).toISOString()}`)).toEqual(['a'])
  const { nextCursor } = (await call('GET', '/audit?limit=2')).body as { nextCursor: string }
  expect(await ids(`?cursor=${encodeURIComponent(nextCursor)}`)).toEqual(['a'])
  for (const query of ['?kind=schedule', '?id=a', '?kind=job&id=a', '?action=burn', '?after=yesterday', '?cursor=x', '?limit=0', '?actr=a'])
    expect(await call('GET', `/audit${query}`), query).toMatchObject({ status: 400 })
  const others = await served('memory', { authorize: (_, action) => action !== 'audit:read' })
  expect(await others.call('GET', '/audit')).toMatchObject(refused(403, 'forbidden', 'audit:read'))
})
