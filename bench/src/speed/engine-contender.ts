import type { Contender, OpenEngine } from './contender.ts'
import { measureBulk } from './workloads/bulk.ts'
import { measureEnqueue } from './workloads/enqueue.ts'
import { measureLatency } from './workloads/latency.ts'
import { measureRuns } from './workloads/runs.ts'

interface EngineContender extends Omit<Contender, 'measure'> {
  open: OpenEngine
  /** How often its idle worker looks for work, where nothing wakes it. */
  pollMs?: number
}

/** A contender that only has to open an engine: the workloads do the rest. */
export function engineContender({ open, pollMs = 0, ...about }: EngineContender): Contender {
  return {
    ...about,
    measure(workload, place) {
      switch (workload.kind) {
        case 'runs':
          return measureRuns(open, workload, place)
        case 'enqueue':
          return measureEnqueue(open, workload, place)
        case 'bulk':
          return measureBulk(open, workload, place)
        case 'latency':
          return measureLatency(open, workload, place, pollMs)
        case 'tasks':
          throw new Error(`${about.title} is no queue in memory`)
      }
    },
  }
}
