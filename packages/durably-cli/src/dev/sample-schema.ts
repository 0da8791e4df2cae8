// A schema of texts and numbers, so that the sample jobs need no schema library.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

interface Field {
  type: 'string' | 'integer'
  title: string
  default: string | number
}

type ValueOf<T extends Field> = T['type'] extends 'integer' ? number : string
type Values<T extends Readonly<Record<string, Field>>> = { [K in keyof T]: ValueOf<T[K]> }

/** A field that is missing gets its default. */
export function fields<const T extends Readonly<Record<string, Field>>>(
  known: T,
): StandardSchemaV1<Partial<Values<T>>, Values<T>> & StandardJSONSchemaV1 {
  const schema = { type: 'object', properties: known, additionalProperties: false }
  const validate = (value: unknown): StandardSchemaV1.Result<Values<T>> => {
    if (typeof value !== 'object' || value === null) return { issues: [{ message: 'must be an object' }] }
    const given = value as Record<string, unknown>
    const issues = Object.entries(known).flatMap(([name, { type }]) => {
      const found = given[name]
      const fits = found === undefined || (type === 'integer' ? Number.isSafeInteger(found) : typeof found === 'string')
      return fits ? [] : [{ message: `must be ${type === 'integer' ? 'a whole number' : 'a text'}`, path: [name] }]
    })
    if (issues.length > 0) return { issues }
    return { value: Object.fromEntries(Object.entries(known).map(([name, field]) => [name, given[name] ?? field.default])) as Values<T> }
  }
  const jsonSchema = { input: () => schema, output: () => schema }
  return { '~standard': { version: 1, vendor: 'durably-dev', validate, jsonSchema } }
}
