// GET /health and GET /ready: for whoever keeps processes running. Nobody needs permission, and nothing is told of runs.
import { expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { reach, served } from './world.ts'

const OK = { status: 200, body: { status: 'ok' } }
const unavailable = (problem: string) => ({ status: 503, body: { status: 'unavailable', problems: [expect.stringContaining(problem)] } })

const hanging = (verb: 'probe' | 'oldestDue') => (store: Store) => ({
  ...store,
  runs: { ...store.runs, [verb]: () => new Promise<never>(() => {}) },
})

test('/ready waits for the worker, unless this process executes nothing; /health does not', async () => {
  const { call, durably, job, env, soon } = await served('memory', { authorize: () => false })
  const { id } = await job.trigger({ to: 'alice' })
  expect(await call('GET', '/health')).toMatchObject(OK)
  expect(await call('GET', '/ready')).toMatchObject(unavailable('durably.start()'))
  expect(await reach(durably, { executes: false }).call('GET', '/ready')).toMatchObject(OK)
  durably.start()
  await env.advance(100)
  const answers = await soon(Promise.all([call('GET', '/health'), call('GET', '/ready')]))
  for (const answer of answers) {
    expect(answer).toMatchObject(OK)
    expect(JSON.stringify(answer.body)).not.toContain(id)
  }
})

test('a store that does not answer makes the process not ready, and leaves it alive', async () => {
  const { call, durably, env, within } = await served('memory', {}, { wrap: hanging('oldestDue') })
  durably.start()
  await env.advance(100)
  expect(await within(3000, call('GET', '/ready'))).toMatchObject(unavailable('does not answer'))
  expect(await call('GET', '/health')).toMatchObject(OK)
})

test('a worker that stands still makes the process not alive', async () => {
  const { call, durably, env } = await served('memory', {}, { wrap: hanging('probe') })
  durably.start()
  await env.advance(60_000)
  expect(await call('GET', '/health')).toMatchObject(unavailable('restart'))
})
