import { jsonCodec } from '../../model/codec.ts'
import type { Labels } from '../../model/labels.ts'
import type { RunRow } from '../../model/run.ts'
import type { Invariant } from './history.ts'

const codec = jsonCodec()

/** I37: a run has the labels that it was given; one that another run triggered has those of that run. */
export const labelsAsGiven: Invariant = ({ runs, plans }) => {
  if (!plans) return []
  const known = new Map(runs.map((run) => [run.id, run]))
  const given = (run: RunRow) => (run.parentRunId === null ? planned(run) : known.get(run.parentRunId)?.labels)
  return runs.flatMap((run) => {
    const labels = given(run)
    if (labels === undefined || labels === run.labels) return []
    return { invariant: 'I37', runId: run.id, what: `has the labels ${run.labels}, and was given ${labels}` }
  })
}

function planned({ payload }: RunRow): string | null {
  const { labels } = codec.decode(payload) as { labels?: Labels }
  return labels ? JSON.stringify(labels) : null
}
