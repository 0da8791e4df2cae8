import { PHASES, type Phase } from '../model/phase.ts'
import type { RunStore } from '../store/runs.ts'

/** How many runs are in each phase. */
export async function countsByPhase(runs: RunStore): Promise<Record<Phase, number>> {
  const counts = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>
  for (const { phase, count } of await runs.count()) counts[phase] += count
  return counts
}
