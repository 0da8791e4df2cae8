import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { cli, temporaryFolder } from './cli.ts'
import { JOBS } from './program.ts'

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url))

test('a job that survives every crash, with its input in a file', async () => {
  const input = join(temporaryFolder(), 'input.json')
  writeFileSync(input, '{"id":7}')
  const { code, out } = await cli(['crashtest', fixture('order'), '--input', input, '--signals', '{"approval":"Ada"}'])
  expect(out).toMatch(/^job "order" survives all \d+ cases \(boundaries: .*step "reserve"/)
  expect(code).toBe(0)
})

test('a job that does not, and what is wrong with the command line', async () => {
  const careless = await cli(['crashtest', fixture('careless'), '--json', '--fault', 'crash after commit'])
  expect(careless.code).toBe(1)
  expect(JSON.parse(careless.out)).toMatchObject({
    jobName: 'careless',
    failures: expect.arrayContaining([expect.objectContaining({ fault: 'crash after commit' })]),
  })
  expect(await cli(['crashtest', JOBS])).toMatchObject({
    code: 2,
    err: expect.stringContaining('defines greet, slow; name one with --job'),
  })
  expect(await cli(['crashtest', JOBS, '--job', 'gret'])).toMatchObject({ code: 2, err: expect.stringContaining('did you mean greet?') })
  expect(await cli(['crashtest', fixture('order'), '--fault', 'crash'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('did you mean crash'),
  })
})
