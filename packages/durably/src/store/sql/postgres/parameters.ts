// Postgres keeps no NUL in a text. Names and values have none (the API refuses it, JSON escapes it); a log line or an
// error message may. Half of a surrogate pair is no text at all: the driver would make the same of it.
import type { CompiledQuery } from 'kysely'

export function storable(query: CompiledQuery): CompiledQuery {
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
