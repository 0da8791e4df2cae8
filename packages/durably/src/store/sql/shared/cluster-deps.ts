import type { SqlDeps } from './deps.ts'
import type { jsonRows } from './json-rows.ts'
import type { reader, runRow } from './rows.ts'

/**
 * What the chapter of the cluster is built from. It is handed what every page has loaded anyway: if it imported that itself, a bundler would
 * make further chunks of it, and every page would grow (ADR 0009).
 */
export interface ClusterDeps extends SqlDeps {
  runRow: typeof runRow
  reader: typeof reader
  jsonRows: typeof jsonRows
}
