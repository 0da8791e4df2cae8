import type { StepRow } from '../../model/step.ts'
import type { StepStore } from '../steps.ts'
import type { Tables } from './tables.ts'

export function memorySteps(tables: Tables): StepStore {
  /** Sorting is stable: within an index they stay in the order they were recorded. */
  const stepsOf = (runId: string): StepRow[] =>
    (tables.records.get(runId)?.kept.steps ?? []).map((step) => ({ ...step })).sort((a, b) => a.index - b.index)
  return {
    list: async (runId) => stepsOf(runId),
    async listOwned({ runId, generation, token }) {
      const held = tables.heldUnder(token)
      return held?.id === runId && held.leaseGeneration === generation ? stepsOf(runId) : null
    },
    find: async (runId, ids) => stepsOf(runId).filter(({ id }) => ids.includes(id)),
  }
}
