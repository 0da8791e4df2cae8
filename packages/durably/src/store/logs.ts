import type { LogRow } from '../model/log.ts'

export interface LogStore {
  /** Adds lines that no owner write carries; a line whose id is known, or whose run is gone, is left out. */
  append(lines: readonly LogRow[]): Promise<void>
  /** The lines of a run in the order they were written. */
  list(runId: string): Promise<LogRow[]>
  /** Those of a run that have these ids, in any order. */
  find(runId: string, ids: readonly string[]): Promise<LogRow[]>
}
