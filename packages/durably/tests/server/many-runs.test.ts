// Commands about many runs over HTTP: what a caller may change, a bounded part with each request, and going on where one stopped.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Run } from '../../src/index.ts'
import type { Action, ServerOptions } from '../../src/server/index.ts'
import { WORLDS } from '../engine/world.ts'
import { refused, served } from './world.ts'

const count = (count: number, cursor: unknown = null) => ({ status: 200, body: { count, cursor } })

describe.each(WORLDS)('commands about many runs over HTTP (%s)', (name) => {
  async function filled(runs: number, options: Partial<ServerOptions> = {}) {
    const world = await served(name, options)
    await world.job.batchTrigger(Array.from({ length: runs }, (_, to) => ({ payload: { to } })))
    const all = async (status: Run['status']) =>
      (await world.durably.getRuns({ status })).map(({ payload }) => (payload as { to: number }).to)
    return { ...world, all }
  }

  test('runs are cancelled, retried and deleted by a filter', async () => {
    const { call, durably, all, soon } = await filled(3)
    const fails = durably.defineJob({ name: 'fails', input: z.unknown() }, () => Promise.reject(new Error('bad')))
    await fails.trigger(0)
    await soon(durably.processUntilIdle())
    expect(await call('POST', '/runs/retry', { body: { filter: { jobName: ['fails', 'greet'] } } })).toMatchObject(count(1))
    expect(await durably.getRuns({ status: 'pending' })).toMatchObject([{ jobName: 'fails' }])
    expect(await call('POST', '/runs/cancel', { body: { filter: { status: ['pending'], createdAfter: new Date(0) } } })).toMatchObject(
      count(1),
    )
    expect(await call('POST', '/runs/delete', { body: { filter: { jobName: 'greet' }, limit: 2 } })).toMatchObject(
      count(2, expect.any(String)),
    )
    expect(await all('completed')).toEqual([2])
    expect(await call('POST', '/runs/delete', { body: { filter: {}, cursor: null } })).toMatchObject(count(2))
    expect(await durably.getRuns()).toEqual([])
  })

  test('a request looks at a hundred runs, and the next one goes on with the rest', async () => {
    const { call, all } = await filled(230)
    let cursor: unknown = null
    const counts: number[] = []
    do {
      const { body } = await call('POST', '/runs/cancel', { body: { filter: {}, cursor } })
      const done = body as { count: number; cursor: string | null }
      counts.push(done.count)
      cursor = done.cursor
    } while (cursor !== null)
    expect(counts).toEqual([100, 100, 30])
    expect(await all('cancelled')).toHaveLength(230)
  })

  test('only runs that the caller may read and change are changed, and the others do not stop it', async () => {
    const asked: [Action, number | undefined][] = []
    const authorize = async (_: Request, action: Action, run?: Run) => {
      const to = (run?.payload as { to: number } | undefined)?.to
      asked.push([action, to])
      if (action === 'runs:list') return true
      return action === 'runs:read' ? to !== 1 : to !== 2
    }
    const { call, all } = await filled(5, { authorize })
    expect(await call('POST', '/runs/cancel', { body: { filter: {} } })).toMatchObject(count(3))
    expect(await all('pending')).toEqual([2, 1])
    expect(asked).toEqual([
      ['runs:list', undefined],
      ...[
        ['runs:read', 0],
        ['runs:cancel', 0],
        ['runs:read', 1],
        ['runs:read', 2],
        ['runs:cancel', 2],
      ],
      ...[
        ['runs:read', 3],
        ['runs:cancel', 3],
        ['runs:read', 4],
        ['runs:cancel', 4],
      ],
    ])
  })

  test('a caller who may not list runs changes none, and keys are those of the caller', async () => {
    const { call, all, durably } = await filled(1, { authorize: (_, action) => action !== 'runs:list' })
    expect(await call('POST', '/runs/cancel', { body: { filter: {} } })).toMatchObject(refused(403, 'forbidden'))
    expect(await all('pending')).toEqual([0])

    const own = await served(name, { principal: (request) => request.headers.get('user') ?? '' })
    for (const user of ['a', 'b'])
      await own.call('POST', '/runs', { headers: { user }, body: { job: 'greet', input: { to: user }, options: { concurrencyKey: 'k' } } })
    expect(await own.call('POST', '/runs/cancel', { headers: { user: 'b' }, body: { filter: { concurrencyKey: 'k' } } })).toMatchObject(
      count(1),
    )
    expect(await own.durably.getRuns({ status: 'cancelled' })).toMatchObject([{ payload: { to: 'b' } }])
    expect(await durably.getRuns()).toHaveLength(1)
  })

  test('what could mean other runs is refused', async () => {
    const { call, all } = await filled(2)
    const cancel = (body: unknown) => call('POST', '/runs/cancel', { body })
    const invalid = (message: string) => refused(400, 'invalid_argument', message)
    for (const filter of [undefined, null, [], 'all', new Map(), new Date(0)])
      expect(await cancel({ filter })).toMatchObject(invalid('cancelRuns needs a filter'))
    expect(await cancel({ filter: { jobname: 'greet' } })).toMatchObject(invalid('did you mean "jobName"?'))
    expect(await cancel({ filter: {}, limits: 1 })).toMatchObject(invalid('did you mean "limit"?'))
    expect(await cancel({ filter: {}, limit: -1 })).toMatchObject(invalid('limit must be a positive whole number, got -1'))
    expect(await cancel({ filter: {}, limit: '1' })).toMatchObject(invalid('limit must be a positive whole number, got "1"'))
    expect(await cancel({ filter: {}, cursor: 5 })).toMatchObject(invalid('cursor must be what cancelRuns returned'))
    expect(await cancel({ filter: {}, cursor: 'x~y' })).toMatchObject(invalid('cursor must be the id of a run'))
    expect(await cancel({ filter: { status: 'failed' } })).toMatchObject(invalid('status for cancelRuns must be one of pending, running'))
    expect(await cancel({ filter: { jobName: [] } })).toMatchObject(invalid('jobName must not be an empty list'))
    expect((await call('GET', '/runs/cancel')).status).toBe(405)
    expect(await all('pending')).toEqual([1, 0])
  })
})
