// A worker in a process of its own, with a job file in TypeScript.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Run } from '@coji/durably'
import { describe, expect, test } from 'vitest'
import { cli, json, openAt, PLACES, temporaryFolder } from './cli.ts'
import { JOBS, start } from './program.ts'

describe.each(PLACES)('durably worker on $name', { timeout: 40_000 }, ({ create }) => {
  test('executes runs, answers probes and Prometheus, and gives its runs back on SIGTERM', async () => {
    const db = await create()
    const durably = await openAt(db)
    const at = ['--db', db]
    const worker = start(['worker', JOBS, ...at, '--port', '0', '--grace', '0', '--worker-id', 'w1', '--counts', '--logs'])
    const [, url = ''] = await worker.says(/executing greet, slow; (\S+)\/health/)

    const greeted = await json<Run>(['trigger', 'greet', '--input', '{"name":"Ada"}', '--jobs', JOBS, '--wait', ...at])
    expect(greeted).toMatchObject({ status: 'completed', output: 'Hello, Ada!', workerId: 'w1' })
    expect((await cli(['run', greeted.id, ...at])).out).toContain('greeting Ada')
    expect((await cli(['workers', ...at])).out).toMatch(/w1 +attached +0\/1 /)
    expect((await fetch(`${url}/health`)).status).toBe(200)
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('durably_runs_completed_total{job="greet"} 1\n')
    expect(metrics).toContain('durably_run_duration_seconds_count{job="greet"} 1\n')
    expect(metrics).toContain('durably_runs{phase="completed"} 1\n')
    expect(metrics).toMatch(/^durably_store_up 1$/m)

    const wrong = await json<Run>(['trigger', 'greet', '--input', '{"name":7}', ...at])
    for await (const _ of durably.subscribe(wrong.id));
    expect(await durably.getRun(wrong.id)).toMatchObject({ status: 'failed', reason: 'invalid_input' })

    const slow = await json<Run>(['trigger', 'slow', ...at])
    for await (const event of durably.subscribe(slow.id)) if (event.type === 'step:complete') break
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0, err: expect.stringContaining('stopping') })
    expect(await durably.getRun(slow.id)).toMatchObject({ status: 'pending' })
    const { out } = await cli(['run', slow.id, ...at])
    expect(out).toContain('▶ w1')
    expect(out).toContain('■ given back by a worker that stops')
  })
})

test.each([
  ['no package.json', null],
  ['"type": "commonjs"', '{ "type": "commonjs" }'],
  ['"type": "module"', '{ "type": "module" }'],
])('a job file in TypeScript is loaded in a folder with %s', { timeout: 40_000 }, async (_, packageJson) => {
  const folder = temporaryFolder()
  if (packageJson !== null) writeFileSync(join(folder, 'package.json'), packageJson)
  writeFileSync(
    join(folder, 'jobs.ts'),
    `import { pause } from './pause'
     const input = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } }
     export default (durably: { defineJob: Function }) => { durably.defineJob({ name: 'made', input }, pause) }`,
  )
  writeFileSync(join(folder, 'pause.ts'), 'export async function pause(): Promise<null> { return null }')
  const db = join(folder, 'test.db')
  const worker = start(['worker', 'jobs.ts', '--db', db, '--migrate', '--no-http'], { cwd: folder })
  await worker.says(/executing made/)
  expect(await json<Run>(['trigger', 'made', '--wait', '--db', db])).toMatchObject({ status: 'completed' })
})

test('what cannot be started says why', { timeout: 40_000 }, async () => {
  const db = `${temporaryFolder()}/test.db`
  await openAt(db)
  const taken = start(['worker', JOBS, '--db', db, '--port', '0'])
  const [, port = ''] = await taken.says(/127\.0\.0\.1:(\d+)/)
  const second = await start(['worker', JOBS, '--db', db, '--port', port]).ended
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining(`port ${port} of 127.0.0.1 is taken`) })
  const bad = await start(['worker', 'nothing.ts', '--db', db]).ended
  expect(bad).toMatchObject({ code: 2, err: expect.stringContaining('there is no file "nothing.ts"') })
})
