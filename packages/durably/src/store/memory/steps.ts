import type { StepRow } from '../../model/step.ts'
import type { RowPage } from '../row-page.ts'
import type { StepStore } from '../steps.ts'
import type { Tables } from './tables.ts'

export function memorySteps(tables: Tables): StepStore {
  const stepsOf = (runId: string) => tables.records.get(runId)?.kept.steps
  function pageOf(runId: string, { after, limit = Number.POSITIVE_INFINITY }: RowPage = {}): StepRow[] {
    // Sorting is stable: within an index they stay in the order they were recorded.
    const steps = [...(stepsOf(runId)?.values() ?? [])].sort((a, b) => a.index - b.index)
    const last = after === undefined ? -1 : steps.findIndex(({ id }) => id === after)
    return after !== undefined && last < 0 ? [] : copies(steps.slice(last + 1, last + 1 + limit))
  }
  return {
    list: async (runId, page) => pageOf(runId, page),
    async listOwned({ runId, generation, token }, page) {
      const held = tables.heldUnder(token)?.row
      return held?.id === runId && held.leaseGeneration === generation ? pageOf(runId, page) : null
    },
    find: async (runId, ids) => copies(ids.flatMap((id) => stepsOf(runId)?.get(id) ?? [])),
  }
}

function copies(steps: readonly StepRow[]): StepRow[] {
  return steps.map((step) => ({ ...step }))
}
