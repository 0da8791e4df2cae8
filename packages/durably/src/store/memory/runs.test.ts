import { describe, expect, it } from 'vitest'
import { TERMINAL_STATUSES } from '../../model/run.ts'
import { virtualEnv } from '../../testing/virtual-env.ts'
import { memoryRuns } from './runs.ts'
import { Tables } from './tables.ts'

const facts = {
  jobName: 'job',
  payload: null,
  idempotencyKey: null,
  concurrencyKey: null,
  holdKey: false,
  labels: null,
  createdAt: '',
  parentRunId: null,
  parentStep: null,
  parentToken: null,
}
const due = { delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null }

describe('purge', () => {
  it('looks at the page that goes and not at the whole history', async () => {
    const env = virtualEnv()
    const tables = new Tables(env, { eventLog: false, endedMax: Number.POSITIVE_INFINITY })
    const runs = memoryRuns(tables)
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

describe('endedMax', () => {
  it('removes the run that ended first, but none that its parent may still ask for', async () => {
    const env = virtualEnv()
    const runs = memoryRuns(new Tables(env, { eventLog: false, endedMax: 2 }))
    const [parent, child, ...others] = Array.from({ length: 5 }, () => env.id()) as [string, string, ...string[]]
    await runs.create([parent, ...others].map((id) => ({ id, ...facts, ...due })))
    await runs.create([{ id: child, ...facts, ...due, parentRunId: parent }])
    const kept = async () => (await runs.list({ statuses: ['cancelled'] })).map(({ id }) => id)
    for (const id of [child, ...others]) {
      await runs.cancel(id)
      await env.advance(1)
    }
    expect(await kept()).toEqual([others.at(-1), child])
    await runs.cancel(parent)
    expect(await kept()).toEqual([others.at(-1), parent])
  })
})
