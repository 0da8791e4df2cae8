// Sizes — a row at another scale: a quick run takes a part of it, a slow contender a part of that.
import type { Row } from './rows.ts'
import type { Workload } from './workload.ts'

const QUICK = 0.05
const QUICK_CAP_MS = 1000
const QUICK_SAMPLES = 15

function scaled(workload: Workload, share: number): Workload {
  const part = (count: number) => Math.max(20, Math.round(count * share))
  switch (workload.kind) {
    case 'runs':
      // One long run is made of fewer steps, many short ones are fewer.
      if (workload.runs === 1) return { ...workload, steps: part(workload.steps) }
      return { ...workload, runs: part(workload.runs) }
    case 'enqueue':
    case 'bulk':
      return { ...workload, runs: part(workload.runs) }
    case 'tasks':
      return { ...workload, tasks: part(workload.tasks) }
    case 'latency':
      return workload
  }
}

/** What a slow contender is given. Steps are not reduced: the cap ends them, and fewer would leave it no time to warm up. */
export function shareOf(workload: Workload, share: number): Workload {
  return workload.kind === 'runs' && workload.steps > 0 ? workload : scaled(workload, share)
}

/** The same row, for a run that shows within three minutes that everything works. Its figures are rough. */
export function quickRow(row: Row): Row {
  const workload = scaled(row.workload, QUICK)
  const capped = 'capMs' in workload ? { ...workload, capMs: QUICK_CAP_MS } : workload
  return {
    ...row,
    workload: capped.kind === 'latency' ? { ...capped, samples: QUICK_SAMPLES } : capped,
    entries: row.entries.map((entry) => (entry.finished ? { ...entry, finished: entry.finished * QUICK } : entry)),
  }
}
