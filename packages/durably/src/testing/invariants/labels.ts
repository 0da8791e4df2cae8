import type { RunRow } from '../../model/run.ts'
import type { Invariant } from './history.ts'

/** I37: a run has the labels that it was given; one that another run triggered has those of that run. */
export const labelsAsGiven: Invariant = ({ runs, plans }) => {
  const planned = plans?.labels
  if (!planned) return []
  const known = new Map(runs.map((run) => [run.id, run]))
  const given = (run: RunRow) => (run.parentRunId === null ? planned.get(run.id) : known.get(run.parentRunId)?.labels)
  return runs.flatMap((run) => {
    const labels = given(run)
    if (labels === undefined || labels === run.labels) return []
    return { invariant: 'I37', runId: run.id, what: `has the labels ${run.labels}, and was given ${labels}` }
  })
}
