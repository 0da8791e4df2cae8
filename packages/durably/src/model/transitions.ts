// Every move a run can make, as data. A move that is not listed does not exist:
// the stores take their guards from here, the contract tries every status with every move,
// and docs/state-machine.md is printed from it.
import type { EventType } from './event.ts'
import type { RunStatus } from './run.ts'

export interface Transition {
  from: readonly RunStatus[]
  to: RunStatus
  event: EventType
}

/** Who may make each of them, and when: model/transition-rules.ts. */
export const TRANSITIONS = {
  claim: { from: ['pending'], to: 'running', event: 'run:start' },
  complete: { from: ['running'], to: 'completed', event: 'run:complete' },
  fail: { from: ['running'], to: 'failed', event: 'run:fail' },
  release: { from: ['running'], to: 'pending', event: 'run:release' },
  abandon: { from: ['running'], to: 'cancelled', event: 'run:cancel' },
  retryLater: { from: ['running'], to: 'pending', event: 'run:retry' },
  park: { from: ['running'], to: 'pending', event: 'run:wait' },
  reclaim: { from: ['running'], to: 'pending', event: 'run:reclaim' },
  reclaimCancelled: { from: ['running'], to: 'cancelled', event: 'run:cancel' },
  reclaimTimedOut: { from: ['running'], to: 'failed', event: 'run:fail' },
  reclaimCrashLoop: { from: ['running'], to: 'failed', event: 'run:fail' },
  confirm: { from: ['running'], to: 'running', event: 'run:confirm' },
  assign: { from: ['pending'], to: 'pending', event: 'run:assign' },
  orphan: { from: ['pending'], to: 'pending', event: 'run:orphan' },
  cancel: { from: ['pending'], to: 'cancelled', event: 'run:cancel' },
  retry: { from: ['failed'], to: 'pending', event: 'run:retry' },
} as const satisfies Record<string, Transition>

export type Move = keyof typeof TRANSITIONS

/** No move leads out of this status. */
export function isFinal(status: RunStatus): boolean {
  return Object.values(TRANSITIONS).every(({ from }) => !(from as readonly RunStatus[]).includes(status))
}

export function canMove(move: Move, from: RunStatus): boolean {
  return (TRANSITIONS[move].from as readonly RunStatus[]).includes(from)
}
