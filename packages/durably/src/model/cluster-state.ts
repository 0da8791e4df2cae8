import { PHASES, type Phase } from './phase.ts'
import type { Run } from './run.ts'

export const CLUSTER_STATES = [
  'PENDING',
  'ASSIGNED',
  'ORPHANED',
  'RUNNING',
  'CONFIRMING',
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'CANCELED',
] as const
/** The state of a run in the words of a cluster. */
export type ClusterState = (typeof CLUSTER_STATES)[number]

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

/** What a store is asked for to find the runs in these states: their phases, and of failed runs only those that ran out of time, or only the others. */
export function phasesOf(states: readonly ClusterState[]): { phases: Phase[]; timedOut?: boolean } {
  const timedOut = states.includes('TIMED_OUT')
  const wanted = timedOut ? [...states, 'FAILED'] : states
  const phases = PHASES.filter((phase) => wanted.includes(STATE_OF[phase]))
  return timedOut === states.includes('FAILED') ? { phases } : { phases, timedOut }
}
