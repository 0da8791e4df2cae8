import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import type { RunConditions, RunFilter } from '../model/run-filter.ts'

export const CONDITIONS: KeysOf<RunConditions> = {
  ...{ status: 1, phase: 1, clusterState: 1, jobName: 1, createdAfter: 1, createdBefore: 1, finishedAfter: 1, finishedBefore: 1 },
  ...{ concurrencyKey: 1, idempotencyKey: 1, parentRunId: 1, scheduleId: 1, labels: 1 },
}
export const RUN_FILTER: KeysOf<RunFilter> = { ...CONDITIONS, limit: 1, values: 1, cursor: 1, direction: 1 }
const { cursor: _, direction: __, ...WATCH_FILTER } = RUN_FILTER

/** The HTTP client must stay small; there the server checks the names. */
export function checkFilterKeys(verb: 'getRuns' | 'watchRuns', filter: RunFilter): void {
  checkKeys(verb, filter, verb === 'getRuns' ? RUN_FILTER : WATCH_FILTER)
}
