// A real Postgres is switched off under a worker, in the middle of a run, and comes back.
import type { Run } from '@coji/durably'
import { createDurably } from '@coji/durably'
import { postgres } from '@coji/durably/postgres'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../durably/tests/postgres/server.ts'
import { cli, json } from './cli.ts'
import { JOBS, start } from './program.ts'

test('a worker outlives its database, says so, and goes on where it was', { timeout: 120_000 }, async () => {
  const server = await startPostgres({ own: true })
  onTestFinished(() => server.stop())
  const at = ['--db', server.url]
  const worker = start(['worker', JOBS, ...at, '--migrate', '--port', '0', '--worker-id', 'w1', '--lease', '60000', '--grace', '0'])
  const [, url = ''] = await worker.says(/executing greet, slow; (\S+)\/health/)
  const slow = await json<Run>(['trigger', 'slow', ...at])
  await using durably = createDurably({ dialect: postgres(server.url), logger: false })
  for await (const event of durably.subscribe(slow.id)) if (event.type === 'step:complete') break

  const up = await server.down()
  await worker.says(/the database cannot be reached/)
  expect((await fetch(`${url}/ready`)).status).toBe(503)
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^durably_store_up 0$/m)
  const asked = await cli(['runs', ...at])
  expect(asked).toMatchObject({ code: 3, err: expect.stringMatching(/ECONNREFUSED[\s\S]*is the database up/) })

  await up()
  await worker.says(/the database can be reached again/)
  for await (const event of durably.subscribe(slow.id)) if (event.type === 'run:complete') break
  const run = await durably.getRun(slow.id)
  expect(run).toMatchObject({ status: 'completed', workerId: 'w1', recoveries: 0, currentStepIndex: 200 })
  expect((await durably.getSteps(slow.id)).filter(({ status }) => status === 'failed')).toEqual([])
  expect((await fetch(`${url}/ready`)).status).toBe(200)
})
