import type { SqlDeps } from './deps.ts'
import type { chunked, jsonRows } from './json-rows.ts'
import type { logValues } from './log-values.ts'
import type { awokenParent } from './owner-moves.ts'
import type { reader, runRow } from './rows.ts'

/**
 * What chapters get whose code is loaded lazily. They are given what every page has loaded anyway: if they imported it themselves, a
 * bundler would make further chunks of it, and every page would grow (ADR 0009).
 */
export interface LazyDeps extends SqlDeps {
  runRow: typeof runRow
  reader: typeof reader
  chunked: typeof chunked
  jsonRows: typeof jsonRows
  logValues: typeof logValues
  awokenParent: typeof awokenParent
}
