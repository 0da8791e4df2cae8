// Which events begin and end the ownership of a run, and which leases were taken back.
import { eventsByRun, type History } from './history.ts'

export const TAKES_OWNERSHIP = 'run:start'
export const ENDS_OWNERSHIP = new Set(['run:complete', 'run:fail', 'run:cancel', 'run:release', 'run:reclaim', 'run:wait', 'run:retry'])

/** By run and generation. */
export function lostGenerations(history: History): Set<string> {
  const lost = new Set<string>()
  for (const [runId, events] of eventsByRun(history)) {
    let owner: number | undefined
    for (const { type, payload } of events) {
      if (type === TAKES_OWNERSHIP) owner = payload.generation
      if (!ENDS_OWNERSHIP.has(type)) continue
      // Ended by a reaper: such an event carries no generation, whatever its type.
      if (payload.generation === undefined && owner !== undefined) lost.add(`${runId}/${owner}`)
      owner = undefined
    }
  }
  return lost
}
