import { describe, expect, test } from 'vitest'
import { CLUSTER_STATES, type ClusterState, clusterState, phasesOf } from './cluster-state.ts'
import { PHASES } from './phase.ts'
import type { FailureReason } from './run.ts'

/** Every kind of run that has a state of its own. */
const KINDS = PHASES.flatMap((phase) =>
  (phase === 'failed' ? (['timeout', 'error'] as const) : [null]).map((reason: FailureReason | null) => ({ phase, reason })),
)

describe('what is asked for to find runs by their cluster state', () => {
  const pairs = CLUSTER_STATES.flatMap((one) => CLUSTER_STATES.map((other): ClusterState[] => [one, other]))
  test.each([...pairs, [...CLUSTER_STATES]])('%s and %s', (...states) => {
    const { phases, timedOut } = phasesOf(states)
    const found = KINDS.filter(
      ({ phase, reason }) =>
        phases.includes(phase) && (timedOut === undefined || phase !== 'failed' || (reason === 'timeout') === timedOut),
    )
    expect(found).toEqual(KINDS.filter((kind) => states.includes(clusterState(kind))))
  })
})
