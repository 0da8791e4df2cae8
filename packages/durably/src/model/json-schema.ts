// JSON Schema of what goes into a schema, asked of the library that made it (Standard JSON Schema).
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

/** `null` when the library cannot produce one, or what it accepts has no JSON Schema, such as a Date. */
export function jsonSchema(schema: StandardSchemaV1): Record<string, unknown> | null {
  const standard: Partial<StandardJSONSchemaV1.Props> = schema['~standard']
  try {
    return standard.jsonSchema?.input({ target: 'draft-2020-12' }) ?? null
  } catch {
    return null
  }
}
