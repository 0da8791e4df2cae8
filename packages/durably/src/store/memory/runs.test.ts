import { describe, expect, it } from 'vitest'
import { TERMINAL_STATUSES } from '../../model/run.ts'
import { virtualEnv } from '../../testing/virtual-env.ts'
import { memoryRuns } from './runs.ts'
import { Tables } from './tables.ts'

describe('purge', () => {
  it('looks at the page that goes and not at the whole history', async () => {
    const env = virtualEnv()
    const tables = new Tables(env, false)
    const runs = memoryRuns(tables)
    const facts = { jobName: 'job', payload: null, idempotencyKey: null, concurrencyKey: null, createdAt: '', parentRunId: null }
    const due = { delayMs: null, runAt: null, deadlineAt: null }
    const ids = Array.from({ length: 5_000 }, () => env.id())
    await runs.create(ids.map((id) => ({ id, ...facts, ...due })))
    for (const id of ids) await runs.cancel(id)
    let looks = 0
    for (const { row } of tables.records.values()) {
      const { finishedAt } = row
      Object.defineProperty(row, 'finishedAt', { get: () => looks++ && finishedAt, configurable: true })
    }
    expect(await runs.purge({ statuses: TERMINAL_STATUSES, olderThanMs: 0, limit: 100 })).toBe(100)
    expect(looks).toBeLessThan(100 * 20)
    expect(tables.records.has(ids[99] ?? '')).toBe(false)
    expect(tables.records.has(ids[100] ?? '')).toBe(true)
  })
})
