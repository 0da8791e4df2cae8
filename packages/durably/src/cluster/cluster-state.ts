import type { Phase } from '../model/phase.ts'
import type { Run } from '../model/run.ts'

/** The state of a run in the words of a cluster. */
export type ClusterState =
  | 'PENDING'
  | 'ASSIGNED'
  | 'ORPHANED'
  | 'RUNNING'
  | 'CONFIRMING'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'TIMED_OUT'
  | 'CANCELED'

const STATE_OF: Record<Phase, ClusterState> = {
  pending: 'PENDING',
  sleeping: 'PENDING',
  waiting: 'PENDING',
  assigned: 'ASSIGNED',
  orphaned: 'ORPHANED',
  running: 'RUNNING',
  cancelling: 'RUNNING',
  stale: 'RUNNING',
  confirming: 'CONFIRMING',
  completed: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
}

/** Says the state of a run in the words of a cluster. */
export function clusterState({ phase, reason }: Pick<Run, 'phase' | 'reason'>): ClusterState {
  return reason === 'timeout' ? 'TIMED_OUT' : STATE_OF[phase]
}
