// GET /events: the newest runs that match and may be read, first all of them, then what changed.
import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { WORLDS } from '../engine/world.ts'
import { Heard } from './sse.ts'
import { refused, request, served } from './world.ts'

async function feeding(...args: Parameters<typeof served>) {
  const world = await served(...args)
  const open = async (query = '') => {
    const heard = new Heard(await world.handler(request('GET', `/events${query}`)))
    heard.all()
    await world.env.idle()
    return heard
  }
  return { ...world, open }
}

/** The page as a reader has it now. */
function pageOf(heard: Heard): Run[] {
  const known = new Map<string, Run>()
  let order: string[] = []
  for (const { data } of heard.told) {
    const message = data as { runs: Run[] } | { order: string[]; changed: Run[] }
    for (const run of 'runs' in message ? message.runs : message.changed) known.set(run.id, run)
    order = 'runs' in message ? message.runs.map(({ id }) => id) : message.order
  }
  return order.map((id) => known.get(id) as Run)
}

const recipient = (run?: Run) => (run?.payload as { to: unknown } | undefined)?.to

describe.each(WORLDS)('the feed (%s)', (name) => {
  test('is the page of runs, now and always', async () => {
    const { open, durably, job, env, soon } = await feeding(name)
    await job.trigger({ to: 1 })
    const heard = await open()
    expect(heard.told).toMatchObject([{ event: 'message', id: undefined, data: { runs: [{ payload: { to: 1 } }] } }])
    const { id } = await job.trigger({ to: 2 })
    await env.advance(200)
    expect(heard.told.at(-1)?.data).toMatchObject({ order: [id, expect.any(String)], changed: [{ id }] })
    await soon(durably.processUntilIdle())
    await env.advance(1500)
    expect(pageOf(heard)).toStrictEqual(await durably.getRuns({ limit: 50 }))
    expect(pageOf(heard).map(({ status }) => status)).toStrictEqual(['completed', 'completed'])
    await durably.deleteRun(id)
    await env.advance(1500)
    expect(pageOf(heard)).toHaveLength(1)
    const before = heard.told.length
    await env.advance(10_000)
    expect(heard.told).toHaveLength(before)
    await heard.leave()
  })

  test('has a filter and a limit', async () => {
    const { open, durably, job, env } = await feeding(name)
    const { id } = await job.trigger({ to: 1 })
    const heard = await open('?status=pending&job=greet&limit=2')
    for (let to = 2; to < 5; to++) await job.trigger({ to })
    await env.advance(1500)
    expect(pageOf(heard).map(recipient)).toStrictEqual([4, 3])
    await durably.cancel(pageOf(heard)[0]?.id ?? '')
    await env.advance(1500)
    expect(pageOf(heard).map(recipient)).toStrictEqual([3, 2])
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
    await heard.leave()
  })
})

test('runs that may not be read are not sent, and their places are filled', async () => {
  const denied = new Set<unknown>()
  const { open, job, env } = await feeding('memory', {
    authorize: (_, action, run) => action === 'runs:list' || !denied.has(recipient(run)),
  })
  for (let to = 0; to < 100; to++) {
    await job.trigger({ to })
    if (to % 10 !== 0) denied.add(to)
  }
  const heard = await open('?limit=3')
  expect(pageOf(heard).map(recipient)).toStrictEqual([90, 80, 70])
  denied.add('secret')
  await job.trigger({ to: 'secret' })
  await env.advance(1500)
  expect(heard.told).toHaveLength(1)
  await job.trigger({ to: 'open' })
  await env.advance(200)
  expect(pageOf(heard).map(recipient)).toStrictEqual(['open', 90, 80])
  // What was allowed and is not any more goes within one poll.
  denied.add(90)
  await env.advance(1000)
  expect(pageOf(heard).map(recipient)).toStrictEqual(['open', 80, 70])
  expect(JSON.stringify(heard.told)).not.toContain('secret')
  await heard.leave()
})

test('it is closed within one poll when it may not be listed any more', async () => {
  let isAllowed = true
  const { open, env, handler, call } = await feeding('memory', { authorize: () => isAllowed })
  const heard = await open()
  isAllowed = false
  await env.advance(1000)
  expect(heard).toMatchObject({ ended: true, names: ['message', 'denied'] })
  expect(handler.openStreams).toBe(0)
  expect(await call('GET', '/events')).toMatchObject(refused(403, 'forbidden', 'runs:list'))
})

test('a feed that is left reads nothing more', async () => {
  const { open, env, handler } = await feeding('memory')
  const heard = await open()
  await heard.leave()
  await env.advance(3000)
  expect([handler.openStreams, env.nextInMs()]).toStrictEqual([0, null])
})

test('queries that cannot be are refused', async () => {
  const { call } = await feeding('memory')
  for (const query of ['limit=0', 'limit=201', 'limit=abc', 'status=done'])
    expect(await call('GET', `/events?${query}`), query).toMatchObject(refused(400, 'invalid_argument', query.split('=')[0]))
  expect(await call('GET', '/events?job=%00')).toMatchObject(refused(400, 'invalid_name'))
})
