// The rules of the transitions in words: who makes a move, and what must hold. The stores have them as guards; here they are for people,
// in docs/state-machine.md, and apart from the table so that no page carries them.
import type { Move } from './transitions.ts'

export interface TransitionRule {
  who: 'client' | 'worker' | 'owner' | 'anyone' | 'leader'
  guard: string
}

/** Who may write as owner: the guard of every owner move. */
const OWNER = 'lease generation and claim token are mine, write number is new'
const OVER = 'lease is over'
const LEASE_OVER = `${OVER}, or its owner is known to be gone`

export const TRANSITION_RULES: Record<Move, TransitionRule> = {
  claim: { who: 'worker', guard: 'due, job registered here, concurrency key free' },
  complete: { who: 'owner', guard: OWNER },
  fail: { who: 'owner', guard: OWNER },
  release: { who: 'owner', guard: OWNER },
  abandon: { who: 'owner', guard: OWNER },
  retryLater: { who: 'owner', guard: OWNER },
  park: { who: 'owner', guard: OWNER },
  reclaim: { who: 'anyone', guard: LEASE_OVER },
  reclaimCancelled: { who: 'anyone', guard: `${LEASE_OVER}, cancel was requested` },
  reclaimTimedOut: { who: 'anyone', guard: `${LEASE_OVER}, deadline is over` },
  reclaimCrashLoop: { who: 'anyone', guard: `${LEASE_OVER}, recoveries used up` },
  confirm: { who: 'anyone', guard: `${OVER}, and its owner may still come back (\`confirmFor\`)` },
  assign: { who: 'leader', guard: 'due, not assigned, version as read, the worker attached and not silent, epoch is current' },
  orphan: { who: 'leader', guard: 'assigned for longer than `reassignAfter`, its worker detached or silent, epoch is current' },
  cancel: { who: 'client', guard: 'none; a running run is only asked to stop' },
  retry: { who: 'client', guard: 'none; completed steps are kept' },
}
