// What is wrong with a filter, and the order of the list that it asks for.
import { CLUSTER_STATES } from './cluster-state.ts'
import { checkWantedLabels } from './labels.ts'
import { PHASES } from './phase.ts'
import type { Run } from './run.ts'
import { checkWatchFilter, type RunConditions, type RunFilter, wrong } from './run-filter.ts'

export function checkFilter({ limit, ...filter }: RunFilter): void {
  checkWatchFilter(filter)
  const { phase = [], clusterState = [], direction = 'next', labels, values = true } = filter
  for (const one of [phase].flat()) if (!PHASES.includes(one)) throw wrong('phase', `one of ${PHASES.join(', ')}`, one)
  for (const one of [clusterState].flat())
    if (!CLUSTER_STATES.includes(one)) throw wrong('clusterState', `one of ${CLUSTER_STATES.join(', ')}`, one)
  if (!['next', 'previous'].includes(direction)) throw wrong('direction', '"next" or "previous"', direction)
  if (typeof values !== 'boolean') throw wrong('values', 'true or false', values)
  if (labels !== undefined) checkWantedLabels(labels)
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) throw wrong('limit', 'a positive whole number', limit)
}

/** The place of a run in the list, for the next page or the one before. */
export function cursorOf({ id, finishedAt }: Run, conditions: RunConditions): string {
  return isByEnd(conditions) ? `${finishedAt}/${id}` : id
}

/** The list is ordered by the end of the runs, the last one first, and not by their creation. */
export function isByEnd({ finishedAfter, finishedBefore }: RunConditions): boolean {
  return finishedAfter !== undefined || finishedBefore !== undefined
}
