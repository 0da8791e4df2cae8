// From a JSON Schema by way of its fields to the input.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type FormField, fieldOf } from './form-field.ts'
import { readInput } from './read-input.ts'

const schema = z.toJSONSchema(
  z.object({
    file: z.string(),
    rows: z.number().int().min(1).max(100),
    mode: z.enum(['append', 'replace']),
    isDry: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    csv: z.object({ delimiter: z.string(), skip: z.number().optional() }).optional(),
  }),
)
const field = fieldOf(schema)
const read = (texts: Record<string, string>) =>
  readInput(field, new Map(Object.entries(texts).map(([name, text]) => [`input/${name}`, text])))
const kinds = (of: FormField): unknown =>
  of.kind === 'group' ? Object.fromEntries(of.fields.map((part) => [part.label, kinds(part)])) : of.kind

test('each property is a field of its kind, and what no field can ask for is JSON', () => {
  expect(kinds(field)).toEqual({
    ...{ file: 'text', rows: 'number', mode: 'choice', isDry: 'yes or no', tags: 'json' },
    csv: { delimiter: 'text', skip: 'number' },
  })
  expect(fieldOf(null).kind).toBe('json')
  expect(fieldOf({ anyOf: [{ type: 'string' }, { type: 'number' }] }).kind).toBe('json')
  expect(fieldOf({ type: 'object', additionalProperties: true }).kind).toBe('json')
})

test('what was entered becomes the input; optional fields that are empty are left out', () => {
  expect(read({ file: 'a.csv', rows: '5', mode: '1' })).toEqual({ value: { file: 'a.csv', rows: 5, mode: 'replace', isDry: false } })
  expect(read({ file: '', rows: '5', mode: '0', isDry: 'true', tags: '["x"]', 'csv/delimiter': ';' })).toEqual({
    value: { file: '', rows: 5, mode: 'append', isDry: true, tags: ['x'], csv: { delimiter: ';' } },
  })
})

test.each([
  [{ file: 'a', rows: '', mode: '0' }, 'rows is required.'],
  [{ file: 'a', rows: 'many', mode: '0' }, 'rows must be a number, got “many”.'],
  [{ file: 'a', rows: '1.5', mode: '0' }, 'rows must be a whole number, got 1.5.'],
  [{ file: 'a', rows: '0', mode: '0' }, 'rows must be at least 1, got 0.'],
  [{ file: 'a', rows: '101', mode: '0' }, 'rows must be at most 100, got 101.'],
  [{ file: 'a', rows: '5', mode: '0', tags: '[x' }, 'tags must be JSON'],
  [{ file: 'a', rows: '5', mode: '0', 'csv/skip': '1e999' }, 'skip must be a number, got “1e999”.'],
])('%j is refused: %s', (texts, problem) => {
  expect(read(texts as Record<string, string>)).toMatchObject({ problem: expect.stringContaining(problem) })
})

test('names with slashes and other characters do not meet', () => {
  const odd = fieldOf({
    type: 'object',
    properties: { 'a/b': { type: 'string' }, a: { type: 'object', properties: { b: { type: 'string' } } } },
  })
  const entered = new Map([
    ['input/a%2Fb', 'one'],
    ['input/a/b', 'two'],
  ])
  expect(readInput(odd, entered)).toEqual({ value: { 'a/b': 'one', a: { b: 'two' } } })
})
