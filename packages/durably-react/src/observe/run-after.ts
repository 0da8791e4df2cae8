// A run as it was read, and what its log has told since.
import type { Run, RunStatus, RunView } from '@coji/durably/client'

export function hasEnded(status: RunStatus): boolean {
  return status !== 'pending' && status !== 'running'
}

/** The view of one who has read the run and no event before. */
export function viewOf(run: Run): RunView {
  const { lastEventSequence: sequence, status, progress, output, error } = run
  return { sequence, status, progress, output, error, streams: {} }
}

/** What no event tells stays as it was read. */
export function runAfter(run: Run, view: RunView, newSteps: number): Run {
  if (view.sequence <= run.lastEventSequence) return run
  const { status, progress, output, error } = view
  const phase = status === 'running' && run.cancelRequestedAt !== null ? 'cancelling' : status
  const currentStepIndex = run.currentStepIndex + newSteps
  const told = { status, phase, progress, output, error, currentStepIndex, lastEventSequence: view.sequence }
  return { ...run, ...told } as Run
}

export function isSame(one: Run, other: Run): boolean {
  const keys = ['version', 'lastEventSequence', 'updatedAt', 'phase'] as const
  return keys.every((key) => one[key] === other[key])
}
