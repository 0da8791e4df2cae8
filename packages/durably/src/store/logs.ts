import type { LogRow } from '../model/log.ts'
import type { RowPage } from './row-page.ts'

/** The log lines of runs. */
export interface LogStore {
  /** Adds lines that are not part of an owner's write. A line whose id is known, or whose run is gone, is left out. */
  append(lines: readonly LogRow[]): Promise<void>
  /** The lines of a run by id, which is the order in which they were written; they may have been stored in another one. */
  list(runId: string, page?: RowPage): Promise<LogRow[]>
  /** The lines of a run that have these ids, in any order. */
  find(runId: string, ids: readonly string[]): Promise<LogRow[]>
}
