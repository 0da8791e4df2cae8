// Every move a run can make, as data. A move that is not listed does not exist:
// the stores take their guards from here, the contract tries every status with every move,
// and docs/state-machine.md is printed from it.
import type { EventType } from './event.ts'
import type { RunStatus } from './run.ts'

export interface Transition {
  who: 'client' | 'worker' | 'owner' | 'anyone'
  from: readonly RunStatus[]
  to: RunStatus
  guard: string
  event: EventType
}

/** Who may write as owner: the guard of every owner move. */
const OWNER = 'lease generation and claim token are mine, write number is new'
const LEASE_OVER = 'lease is over, or its owner is known to be gone'

export const TRANSITIONS = {
  claim: { who: 'worker', from: ['pending'], to: 'running', guard: 'due, job registered here, concurrency key free', event: 'run:start' },
  complete: { who: 'owner', from: ['running'], to: 'completed', guard: OWNER, event: 'run:complete' },
  fail: { who: 'owner', from: ['running'], to: 'failed', guard: OWNER, event: 'run:fail' },
  release: { who: 'owner', from: ['running'], to: 'pending', guard: OWNER, event: 'run:release' },
  abandon: { who: 'owner', from: ['running'], to: 'cancelled', guard: OWNER, event: 'run:cancel' },
  retryLater: { who: 'owner', from: ['running'], to: 'pending', guard: OWNER, event: 'run:retry' },
  park: { who: 'owner', from: ['running'], to: 'pending', guard: OWNER, event: 'run:wait' },
  reclaim: { who: 'anyone', from: ['running'], to: 'pending', guard: LEASE_OVER, event: 'run:reclaim' },
  reclaimCancelled: {
    who: 'anyone',
    from: ['running'],
    to: 'cancelled',
    guard: `${LEASE_OVER}, cancel was requested`,
    event: 'run:cancel',
  },
  reclaimTimedOut: { who: 'anyone', from: ['running'], to: 'failed', guard: `${LEASE_OVER}, deadline is over`, event: 'run:fail' },
  reclaimCrashLoop: { who: 'anyone', from: ['running'], to: 'failed', guard: `${LEASE_OVER}, recoveries used up`, event: 'run:fail' },
  cancel: { who: 'client', from: ['pending'], to: 'cancelled', guard: 'none; a running run is only asked to stop', event: 'run:cancel' },
  retry: { who: 'client', from: ['failed'], to: 'pending', guard: 'none; completed steps are kept', event: 'run:retry' },
} as const satisfies Record<string, Transition>

export type Move = keyof typeof TRANSITIONS

/** It stays as it is for ever. */
export function isFinal(status: RunStatus): boolean {
  return Object.values(TRANSITIONS).every(({ from }) => !(from as readonly RunStatus[]).includes(status))
}

export function canMove(move: Move, from: RunStatus): boolean {
  return (TRANSITIONS[move].from as readonly RunStatus[]).includes(from)
}
