import type { Run } from '@coji/durably'
import { fileNameOf, ProgressBar, timeOf } from './run-parts.tsx'

interface RunListProps {
  runs: readonly Run[]
  chosenId: string | undefined
  onChoose(id: string): void
}

export function RunList({ runs, chosenId, onChoose }: RunListProps) {
  return (
    <section className="card">
      <h2>Runs</h2>
      {runs.length === 0 && <p className="quiet">None yet.</p>}
      <ul aria-label="Runs" className="runs">
        {runs.map((run) => (
          <li key={run.id}>
            <button type="button" aria-pressed={run.id === chosenId} onClick={() => onChoose(run.id)}>
              <span className="file">{fileNameOf(run)}</span>
              <time className="quiet">{timeOf(run.createdAt)}</time>
              <span className={`pill ${run.phase}`}>{run.phase}</span>
              <ProgressBar run={run} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
