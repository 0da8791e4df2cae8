import { describe, expect, it } from 'vitest'
import type { RunRow } from '../../model/run.ts'
import { JobQueue } from './job-queue.ts'
import { RunRecord } from './run-record.ts'

const COUNT = 100_000

/** A hundred thousand runs that are due at scattered times; counts how often one was asked for its time. */
function scheduled() {
  let asked = 0
  const rows = Array.from({ length: COUNT }, (_, i) => {
    const runAt = (i * 48_271) % 100_003
    return {
      id: String(i),
      concurrencyKey: null,
      get runAt() {
        asked++
        return runAt
      },
    } as RunRow
  })
  const queue = new JobQueue(() => false)
  for (const row of rows) queue.add(new RunRecord(row))
  const questions = <T>(ask: () => T): { answer: T; asked: number } => {
    asked = 0
    return { answer: ask(), asked }
  }
  return { queue, questions }
}

describe('JobQueue', () => {
  it('wakes a hundred thousand scheduled runs one by one, each by O(log n) looks at others', () => {
    const { queue, questions } = scheduled()
    const woken: number[] = []
    let mostAsked = 0
    for (let nowMs = -1; ; ) {
      const next = questions(() => queue.nextRunAt(nowMs))
      mostAsked = Math.max(mostAsked, next.asked)
      if (next.answer === undefined) break
      nowMs = next.answer
      const taken = questions(() => {
        const record = queue.firstClaimable(nowMs)
        if (record) queue.remove(record)
        return record?.row
      })
      mostAsked = Math.max(mostAsked, taken.asked)
      woken.push(taken.answer?.runAt ?? Number.NaN)
    }
    expect(mostAsked).toBeLessThan(30)
    expect(woken).toHaveLength(COUNT)
    expect(woken).toEqual([...woken].sort((a, b) => a - b))
  })
})
