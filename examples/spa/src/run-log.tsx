// What the job has logged, the last line first.
import { useRunLogs } from '@coji/durably-react'
import { timeOf } from './run-parts.tsx'

export function RunLog({ runId }: { runId: string }) {
  const { logs } = useRunLogs(runId)
  return (
    <section>
      <h3>
        Log <span className="count">{logs.length}</span>
      </h3>
      <ol aria-label="Log" className="lines">
        {logs.toReversed().map((line) => (
          <li key={line.sequence} className={line.level}>
            <span>{line.message}</span>
            <time className="quiet">{timeOf(line.timestamp)}</time>
          </li>
        ))}
      </ol>
    </section>
  )
}
