// TaskState — seed 003's words for the state of a run, derived and never stored; and `Cancelled`, which only `cancel()` leads to.
import { DurablyError } from '../model/errors.ts'
import type { Phase } from '../model/phase.ts'
import type { Run, RunRow, RunStatus, TerminalStatus } from '../model/run.ts'
import type { RunCount } from '../store/runs.ts'

/** The states of a task. */
export const TASK_STATES = ['Queued', 'Running', 'Succeeded', 'RetryScheduled', 'Dead', 'Cancelled'] as const
/**
 * The state of a task. `Queued`: it waits for its first execution, for a worker, or was put back. `Running`: a process executes it.
 * `Succeeded`: it has succeeded. `RetryScheduled`: an execution failed, and the next one is due later. `Dead`: it failed for good;
 * `redrive` puts it back. `Cancelled`: it was cancelled.
 */
export type TaskState = (typeof TASK_STATES)[number]

export const FINISHED_STATES = ['Succeeded', 'Dead', 'Cancelled'] as const satisfies TaskState[]
export type FinishedState = (typeof FINISHED_STATES)[number]

export type TaskFacts = Pick<Run, 'status' | 'attempts' | 'runAt'>

/** A task that waits for its first execution is `Queued`, also when it was enqueued with a delay. */
export function taskState({ status, attempts, runAt }: TaskFacts, nowMs: number): TaskState {
  return stateOfRow({ status, attempts, runAt: Date.parse(runAt) }, nowMs)
}

/** The same, for the row of a run. */
export function stateOfRow({ status, attempts, runAt }: Pick<RunRow, 'status' | 'attempts' | 'runAt'>, nowMs: number): TaskState {
  if (status === 'pending') return attempts > 0 && runAt > nowMs ? 'RetryScheduled' : 'Queued'
  return STATE_OF[status]
}

const STATE_OF = { running: 'Running', completed: 'Succeeded', failed: 'Dead', cancelled: 'Cancelled' } as const

/** The same, for a group of runs that a store has counted. */
export function stateOfCount({ phase, isRetried }: Pick<RunCount, 'phase' | 'isRetried'>): TaskState {
  const state = STATE_OF_PHASE[phase]
  return state === 'later' ? (isRetried ? 'RetryScheduled' : 'Queued') : state
}

const STATE_OF_PHASE = {
  pending: 'Queued',
  assigned: 'Queued',
  orphaned: 'Queued',
  sleeping: 'later',
  waiting: 'later',
  running: 'Running',
  cancelling: 'Running',
  stale: 'Running',
  confirming: 'Running',
  completed: 'Succeeded',
  failed: 'Dead',
  cancelled: 'Cancelled',
} as const satisfies Record<Phase, TaskState | 'later'>

/** The stored status of all runs in this state. */
export const STATUS_OF = {
  Queued: 'pending',
  RetryScheduled: 'pending',
  Running: 'running',
  Succeeded: 'completed',
  Dead: 'failed',
  Cancelled: 'cancelled',
} as const satisfies Record<TaskState, RunStatus>

export function finishedStatus(state: FinishedState): TerminalStatus {
  if (FINISHED_STATES.includes(state)) return STATUS_OF[state]
  throw new DurablyError('invalid_argument', `state must be one of ${FINISHED_STATES.join(', ')}, got ${JSON.stringify(state)}`)
}
