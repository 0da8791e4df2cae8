// One run, live: its progress, buttons to cancel, retry and delete it, its steps and its log.
import type { JobOutput } from '@coji/durably/client'
import { useDurably, useRun } from '@coji/durably-react'
import type { jobs } from './jobs.ts'
import { RunLog } from './run-log.tsx'
import { fileNameOf, ProgressBar } from './run-parts.tsx'
import { StepList } from './step-list.tsx'

export function RunDetails({ runId }: { runId: string }) {
  const client = useDurably()
  const { run, phase, progress, output, error, isRunning, cancel, retry } = useRun<JobOutput<typeof jobs, 'import-csv'>>(runId)
  if (!run) return null
  return (
    <section aria-label="Run" className="card">
      <div className="heading">
        <h2>{fileNameOf(run)}</h2>
        <span className={`pill ${phase}`}>{phase}</span>
        <div className="actions">
          {isRunning && (
            <button type="button" disabled={phase === 'cancelling'} onClick={() => cancel()}>
              Cancel
            </button>
          )}
          {run.status === 'failed' && (
            <button type="button" onClick={() => retry()}>
              Retry
            </button>
          )}
          {!isRunning && (
            <button type="button" onClick={() => client.deleteRun(runId)}>
              Delete
            </button>
          )}
        </div>
      </div>
      <ProgressBar run={run} />
      <p className="quiet">
        {output
          ? `${output.saved} contacts saved, ${output.rejected} rows left out`
          : `${progress?.current ?? 0} of ${progress?.total ?? '…'} rows`}
      </p>
      {error && <p role="alert">{error.message}</p>}
      <div className="halves">
        <StepList run={run} />
        <RunLog runId={runId} />
      </div>
    </section>
  )
}
