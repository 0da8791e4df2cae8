// `values=false`: lists without inputs and outputs, which may be large.
import { describe, expect, test } from 'vitest'
import { httpClient, localClient } from '../../src/client/index.ts'
import type { Run } from '../../src/index.ts'
import { WORLDS } from '../engine/world.ts'
import { Heard } from './sse.ts'
import { refused, request, served } from './world.ts'

const recipient = (run?: Run) => (run?.payload as { to: unknown } | undefined)?.to

describe.each(WORLDS)('lists without values (%s)', (name) => {
  test('have neither inputs nor outputs, and all the rest, in process and over HTTP', async () => {
    const { durably, job, handler, soon } = await served(name)
    await job.trigger({ to: 1 })
    await soon(durably.processUntilIdle())
    await job.trigger({ to: 2 })
    const whole = await durably.getRuns({ limit: 5 })
    const stripped = whole.map((run) => ({ ...run, payload: undefined, output: run.status === 'completed' ? undefined : null }))
    const fetch = async (url: string | URL | Request, init?: RequestInit) => handler(new Request(url, init))
    const http = httpClient({ url: 'http://localhost', fetch: fetch as typeof globalThis.fetch })
    for (const client of [durably, localClient(durably), http]) {
      expect(await client.getRuns({ limit: 5, values: false })).toEqual(stripped)
      expect(await client.getRuns({ limit: 5, values: true })).toEqual(whole)
    }
    for await (const runs of durably.watchRuns({ values: false })) {
      expect(runs).toEqual(stripped)
      break
    }
  })

  test('are watched over HTTP', async () => {
    const { job, handler, env } = await served(name)
    await job.trigger({ to: 1 })
    const heard = new Heard(await handler(request('GET', '/events?values=false')))
    heard.all()
    await env.idle()
    const [{ runs = [] } = {}] = heard.told.map(({ data }) => data as { runs?: Run[] })
    expect(runs).toMatchObject([{ jobName: 'greet' }])
    expect(runs[0]?.payload).toBeUndefined()
    await heard.leave()
  })
})

test('an authorize that decides by the input still gets it, so asking for less shows no more runs', async () => {
  const { job, call } = await served('memory', { authorize: (_, action, run) => action === 'runs:list' || recipient(run) === 1 })
  await job.trigger({ to: 1 })
  await job.trigger({ to: 2 })
  const { body } = await call('GET', '/runs?values=false')
  const { runs } = body as { runs: Run[] }
  expect(runs).toHaveLength(1)
  expect(runs[0]?.payload).toBeUndefined()
})

test('an authorize that does not look at values need not have them read', async () => {
  const seen: unknown[] = []
  const authorize = (_: Request, __: string, run?: Run) => {
    if (run) seen.push(run.payload)
    return true
  }
  const { job, call } = await served('memory', { authorize, authorizesByValues: false })
  await job.trigger({ to: 1 })
  await call('GET', '/runs?values=false')
  await call('GET', '/runs')
  expect(seen).toEqual([undefined, { to: 1 }])
})

test('anything else than true and false is refused', async () => {
  const { call, durably } = await served('memory')
  expect(await call('GET', '/runs?values=no')).toMatchObject(refused(400, 'invalid_argument', 'values must be true or false'))
  await expect(durably.getRuns({ values: 'no' as never })).rejects.toThrow('values must be true or false, got "no"')
  expect(await call('POST', '/runs/cancel', { body: { filter: { values: false } } })).toMatchObject(refused(400, 'invalid_argument'))
})
