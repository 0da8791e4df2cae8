import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import type { RunFilter } from '../model/run-filter.ts'

const RUN_FILTER: KeysOf<RunFilter> = { status: 1, jobName: 1, limit: 1, cursor: 1 }
const { cursor: _, ...WATCH_FILTER } = RUN_FILTER

/** Not in the HTTP client, which must stay small: there the types are the only check of the names. */
export function checkFilterKeys(verb: 'getRuns' | 'watchRuns', filter: RunFilter): void {
  checkKeys(verb, filter, verb === 'getRuns' ? RUN_FILTER : WATCH_FILTER)
}
