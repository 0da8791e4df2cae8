// Parameters that a driver cannot handle never reach it: a boolean aborts the process in libsql, and node:sqlite silently takes a Date
// as the first value for named parameters.
import type { CompiledQuery } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'

export type Bindable = string | number | bigint | null | Uint8Array

export function withCheckedParameters(query: CompiledQuery): CompiledQuery {
  const parameters = checkedParameters(query.parameters)
  return parameters === query.parameters ? query : { ...query, parameters }
}

/** As SQLite takes them: a boolean becomes 1 or 0. Throws if a value cannot be stored. */
export function checkedParameters(parameters: readonly unknown[]): readonly Bindable[] {
  for (const value of parameters) {
    if (typeof value !== 'string' && value !== null && !(typeof value === 'number' && Number.isFinite(value)))
      return parameters.map(bindable)
  }
  return parameters as readonly Bindable[]
}

function bindable(value: unknown, position: number): Bindable {
  switch (typeof value) {
    case 'string':
    case 'bigint':
      return value
    case 'boolean':
      return value ? 1 : 0
    case 'number':
      if (Number.isFinite(value)) return value
      break
    case 'object':
      if (value === null || value instanceof Uint8Array) return value
  }
  throw new DurablyError(
    'store_rejected',
    `parameter ${position + 1} is ${describe(value)} and cannot be stored; pass a text, a number or null`,
  )
}

function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null) return `an object (${value.constructor?.name || 'no class'})`
  return String(value)
}
