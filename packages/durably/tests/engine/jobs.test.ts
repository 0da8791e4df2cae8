// The jobs of an instance, as others ask for them: by name, with the JSON Schema of their input.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'

function open() {
  return createDurably({ store: memoryStore() })
}

test('jobs are found by name, and are the same handles', async () => {
  const durably = open()
  const greet = durably.defineJob({ name: 'greet', input: z.object({ to: z.string() }) }, () => {})
  expect([...durably.jobs.keys()]).toStrictEqual(['greet'])
  expect(durably.jobs.get('greet')).toBe(greet)
  const run = await durably.jobs.get('greet')?.trigger({ to: 'you' })
  expect(run).toMatchObject({ jobName: 'greet', payload: { to: 'you' } })
})

test('the JSON Schema is that of what a caller passes, before defaults and transformations', () => {
  const job = open().defineJob({ name: 'job', input: z.object({ n: z.string().transform(Number), page: z.number().default(1) }) }, () => {})
  expect(job.inputSchema()).toMatchObject({
    type: 'object',
    properties: { n: { type: 'string' }, page: { type: 'number' } },
    required: ['n'],
  })
})

test('what has no JSON Schema has none', () => {
  const plain: StandardSchemaV1<string> = {
    '~standard': { version: 1, vendor: 'mine', validate: (value) => ({ value: String(value) }) },
  }
  const durably = open()
  expect(durably.defineJob({ name: 'date', input: z.object({ at: z.date() }) }, () => {}).inputSchema()).toBeNull()
  expect(durably.defineJob({ name: 'plain', input: plain }, () => {}).inputSchema()).toBeNull()
})
