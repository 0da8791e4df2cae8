import type { LogRow } from '../../../model/log.ts'
import type { JsonRow } from './json-rows.ts'

/** In the order of the columns. */
export function logValues(line: LogRow): JsonRow {
  return [line.id, line.runId, line.stepName, line.level, line.message, line.data, line.timestamp]
}
