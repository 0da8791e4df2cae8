// The register of workers over HTTP.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { cluster } from '../../src/cluster.ts'
import type { Authorize } from '../../src/server/index.ts'
import { refused, served } from './world.ts'

async function withWorker(authorize?: Authorize) {
  const world = await served('memory', { ...(authorize && { authorize }) })
  const worker = world.another({ workerId: 'w1' })
  worker.defineJob({ name: 'job', input: z.unknown() }, async () => {})
  cluster(worker)
  worker.start()
  await world.env.advance(2000)
  return world
}

test('workers are listed and switched', async () => {
  const { call } = await withWorker()
  expect(await call('GET', '/workers')).toMatchObject({
    status: 200,
    body: { workers: [{ id: 'w1', state: 'attached', jobNames: ['job'] }] },
  })
  expect(await call('POST', '/workers/w1/drain')).toMatchObject({ status: 204 })
  expect(await call('GET', '/workers')).toMatchObject({ body: { workers: [{ state: 'draining' }] } })
  expect(await call('POST', '/workers/nobody/drain')).toMatchObject(refused(404, 'worker_not_found', '"nobody"'))
  expect(await call('POST', '/workers/%00/drain')).toMatchObject(refused(400, 'invalid_name', 'workerId'))
  expect(await call('POST', '/workers/w1/stop')).toMatchObject(refused(404, 'not_found'))
  expect(await call('GET', '/workers/w1/drain')).toMatchObject(refused(405, 'method_not_allowed'))
})

test('who may read the register may not change it', async () => {
  const { call, store } = await withWorker((_, action) => action === 'cluster:read')
  expect(await call('GET', '/workers')).toMatchObject({ status: 200 })
  for (const verb of ['attach', 'drain', 'detach'])
    expect(await call('POST', `/workers/w1/${verb}`)).toMatchObject(refused(403, 'forbidden', 'cluster:write'))
  expect(await store.cluster?.workers()).toMatchObject([{ id: 'w1', state: 'attached' }])
  const others = await withWorker((_, action) => action === 'cluster:write')
  expect(await others.call('GET', '/workers')).toMatchObject(refused(403, 'forbidden', 'cluster:read'))
})
