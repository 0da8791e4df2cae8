import type { LogRow } from '../model/log.ts'

/** The log lines of runs. */
export interface LogStore {
  /** Adds lines that are not part of an owner's write. A line whose id is known, or whose run is gone, is left out. */
  append(lines: readonly LogRow[]): Promise<void>
  /** The lines of a run, in the order in which they were stored. */
  list(runId: string): Promise<LogRow[]>
  /** The lines of a run that have these ids, in any order. */
  find(runId: string, ids: readonly string[]): Promise<LogRow[]>
}
