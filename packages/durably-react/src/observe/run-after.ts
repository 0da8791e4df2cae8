// Combines a run as it was read with the events that came since.
import type { Run, RunStatus, RunView } from '@coji/durably/client'

export function hasEnded(status: RunStatus): boolean {
  return status !== 'pending' && status !== 'running'
}

/** The view of a run that was read, without any event. */
export function viewOf(run: Run): RunView {
  const { lastEventSequence: sequence, status, progress, output, error } = run
  return { sequence, status, progress, output, error, streams: {} }
}

/** Fields that no event carries stay as they were read. */
export function runAfter(run: Run, view: RunView, newSteps: number): Run {
  if (view.sequence <= run.lastEventSequence) return run
  const { status, progress, output, error } = view
  const phase = status === 'running' && run.cancelRequestedAt !== null ? 'cancelling' : status
  const currentStepIndex = run.currentStepIndex + newSteps
  // What it waits for is read again; until then it is not known.
  const { waitingFor: _, ...rest } = run
  const known = { status, phase, progress, output, error, currentStepIndex, lastEventSequence: view.sequence }
  return { ...rest, ...known } as Run
}

export function isSame(one: Run, other: Run): boolean {
  const keys = ['version', 'lastEventSequence', 'updatedAt', 'phase'] as const
  return keys.every((key) => one[key] === other[key]) && JSON.stringify(one.waitingFor) === JSON.stringify(other.waitingFor)
}
