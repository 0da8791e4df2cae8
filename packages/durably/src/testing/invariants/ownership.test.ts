import { describe, expect, it } from 'vitest'
import type { EventRow } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { History, JobExecution } from './history.ts'
import { overlapOnlyAfterLoss } from './ownership.ts'

const RUN = { id: 'run', concurrencyKey: null } as RunRow

describe('I1c: functions of one run overlap only after a loss', () => {
  it('accuses two of which neither lost its lease', () => {
    const history = historyOf({ lost: [], executions: [execution(1, 0, 10), execution(2, 5, 15)] })
    expect(overlapOnlyAfterLoss(history)).toHaveLength(1)
    expect(overlapOnlyAfterLoss({ ...history, mayStartLate: true })).toHaveLength(1)
  })

  it('excuses the second when the first had lost its lease', () => {
    const history = historyOf({ lost: [1], executions: [execution(1, 0, 10), execution(2, 5, 15)] })
    expect(overlapOnlyAfterLoss(history)).toEqual([])
  })

  it('accuses a worker that begins after it lost its lease, unless it may have been stopped just before its first line', () => {
    const history = historyOf({ lost: [1], executions: [execution(2, 0, 10), execution(1, 5, 15)] })
    expect(overlapOnlyAfterLoss(history)).toHaveLength(1)
    expect(overlapOnlyAfterLoss({ ...history, mayStartLate: true })).toEqual([])
  })

  it('accuses nobody where one begins after the other ended', () => {
    expect(overlapOnlyAfterLoss(historyOf({ lost: [], executions: [execution(1, 0, 10), execution(2, 10, 15)] }))).toEqual([])
  })
})

function execution(generation: number, startedAt: number, endedAt: number): JobExecution {
  return { runId: RUN.id, generation, startedAt, endedAt }
}

/** Two generations, of which some were taken back by a reaper and the others gave the run back themselves. */
function historyOf({ lost, executions }: { lost: number[]; executions: JobExecution[] }): History {
  const logged = [1, 2].flatMap((generation) => [
    { type: 'run:start', payload: { generation } },
    lost.includes(generation) ? { type: 'run:reclaim', payload: {} } : { type: 'run:release', payload: { generation } },
  ])
  const events = logged.map(({ type, payload }, i) => ({ runId: RUN.id, seq: i + 1, type, payload: JSON.stringify(payload) }) as EventRow)
  return { runs: [RUN], steps: [], events, ledger: { executions, effects: [] }, acknowledged: [], maxRecoveries: 10, faultFree: false }
}
