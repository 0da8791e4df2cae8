import { describe, expect, it } from 'vitest'
import { oneRunPerIdempotencyKey } from './endings.ts'
import type { History } from './history.ts'

const NOTHING: History = {
  ...{ runs: [], steps: [], events: [], acknowledged: [], maxRecoveries: 10, faultFree: false },
  ledger: { executions: [], effects: [] },
}

describe('I12: one run per idempotency key', () => {
  it('accuses two answers with different runs', () => {
    expect(accused({ answers: ['a', 'b'] })).toEqual(['b'])
    expect(accused({ answers: ['a', 'b'], created: { a: 1, b: 3 } })).toEqual(['b'])
  })

  it('accuses the second run when the first was purged after it was created', () => {
    expect(accused({ answers: ['a', 'b'], created: { a: 1, b: 3 }, purged: { a: 4 } })).toEqual(['b'])
  })

  it('accuses nobody when the first run was purged before the second was created', () => {
    expect(accused({ answers: ['a', 'b'], created: { a: 1, b: 3 }, purged: { a: 2 } })).toEqual([])
  })

  it('accuses nobody when the answer about the purged run came last', () => {
    expect(accused({ answers: ['b', 'a'], created: { a: 1, b: 3 }, purged: { a: 2 } })).toEqual([])
  })

  it('accuses the purged run when it was the answer to a trigger that was sent after the purge', () => {
    expect(accused({ answers: ['b', 'a'], askedAt: 4, created: { a: 1, b: 3 }, purged: { a: 2 } })).toEqual(['a'])
  })
})

interface Told {
  /** The runs in the order of the answers. */
  answers: string[]
  askedAt?: number
  created?: Record<string, number>
  purged?: Record<string, number>
}

function accused({ answers, askedAt = 0, created = {}, purged = {} }: Told): (string | null)[] {
  const violations = oneRunPerIdempotencyKey({
    ...NOTHING,
    acknowledged: answers.map((runId) => ({ kind: 'triggered', runId, jobName: 'job', idempotencyKey: 'key', askedAt })),
    ledger: {
      ...NOTHING.ledger,
      created: Object.entries(created).map(([runId, place]) => ({ runId, place, dueAt: 0, parentStatus: null })),
    },
    purged: new Map(Object.entries(purged)),
  })
  return violations.map(({ runId }) => runId)
}
