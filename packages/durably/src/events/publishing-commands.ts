// The commands about a run, publishing each change once it is written. It is loaded with the first command.
import type { Change } from '../store/notifier.ts'
import type { RunStore } from '../store/runs.ts'

export function publishingCommands(runs: RunStore, publish: (change: Change) => void): Pick<RunStore, 'cancel' | 'retry' | 'delete'> {
  return {
    async cancel(id, options) {
      const answer = await runs.cancel(id, options)
      if (!answer || answer.outcome === 'changed') return answer
      for (const { outcome, id: runId } of [{ ...answer, id }, ...answer.others]) {
        if (outcome === 'cancelled') publish({ type: 'events', runId })
        if (outcome === 'requested') publish({ type: 'cancel', runId })
      }
      // A parent may have waited for this end, or another run for the key that it held.
      if (answer.outcome === 'cancelled' && (answer.run.parentRunId ?? answer.run.concurrencyKey) !== null) publish({ type: 'work' })
      return answer
    },
    async retry(id, options) {
      const answer = await runs.retry(id, options)
      if (answer?.outcome === 'retried') {
        publish({ type: 'events', runId: id })
        publish({ type: 'work' })
      }
      return answer
    },
    async delete(id, options) {
      const answer = await runs.delete(id, options)
      if (answer?.outcome === 'deleted') publish({ type: 'events', runId: id })
      return answer
    },
  }
}
