// Checks an input by a JSON Schema (draft 2020-12). It is loaded when a process first triggers a job that it does not have.
import { type Schema, Validator } from '@cfworker/json-schema'
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** Answers with what is wrong. A schema that cannot be read refuses nothing: the worker checks, too. */
export function inputCheck(schema: string): (value: unknown) => StandardSchemaV1.Issue[] {
  const validator = validatorOf(schema)
  return (value) => {
    if (!validator) return []
    try {
      const { valid, errors } = validator.validate(plain(value))
      // The last error is about the value itself, and says only that a part of it is wrong.
      return valid ? [] : errors.slice(-1).map(({ instanceLocation, error }) => ({ message: error, path: pathOf(instanceLocation) }))
    } catch {
      return []
    }
  }
}

function validatorOf(schema: string): Validator | null {
  try {
    return new Validator(JSON.parse(schema, withoutFormat) as Schema, '2020-12')
  } catch {
    return null
  }
}

/** In this draft a format is a remark, and libraries do not agree on what a text of a format may look like. */
function withoutFormat(key: string, value: unknown): unknown {
  return key === 'format' && typeof value === 'string' ? undefined : value
}

/** As JSON has it: a member without a value is not there. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** From `#/user/name`. */
function pathOf(location: string): string[] {
  return location
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
}
