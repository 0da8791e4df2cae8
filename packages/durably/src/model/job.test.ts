import type { StandardSchemaV1 } from '@standard-schema/spec'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { validate } from './job.ts'

test('validate returns what the schema makes of the value', async () => {
  const schema = z.object({ n: z.coerce.number().default(3) })
  expect(await validate(schema, { n: '2' }, 'invalid_input', () => 'input')).toStrictEqual({ n: 2 })
  expect(await validate(schema, {}, 'invalid_input', () => 'input')).toStrictEqual({ n: 3 })
})

test('validate waits for a schema that answers later', async () => {
  const schema = z.string().refine(async (text) => text === 'yes')
  expect(await validate(schema, 'yes', 'output_invalid', () => 'output')).toBe('yes')
  await expect(validate(schema, 'no', 'output_invalid', () => 'output')).rejects.toMatchObject({ code: 'output_invalid' })
})

test('validate names every path in one error, whatever form a path takes', async () => {
  const issues: StandardSchemaV1.Issue[] = [
    { message: 'bad', path: ['users', 0, { key: 'name' }] },
    { message: 'worse', path: [Symbol('s')] },
    { message: 'whole' },
  ]
  const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues }) } }
  await expect(async () => validate(schema, {}, 'invalid_input', () => 'input of job "a"')).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'input of job "a": users.0.name: bad; Symbol(s): worse; whole',
    cause: issues,
  })
})
