// Postgres cannot store a NUL in a text. Names and values have none (the API refuses it, and JSON escapes it), but a log line or an error
// message may: its NULs become U+FFFD. The driver itself does the same to half of a surrogate pair.
import type { CompiledQuery } from 'kysely'

export function withCheckedParameters(query: CompiledQuery): CompiledQuery {
  return query.parameters.some(isHazard) ? { ...query, parameters: query.parameters.map(harmless) } : query
}

function isHazard(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  return Array.isArray(value) && value.some(isHazard)
}

function harmless(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD')
  return Array.isArray(value) ? value.map(harmless) : value
}
