// Runs without keys, parents and the like have a statement of their own, with fewer columns. What is stored must not tell which one it was.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewRun } from '../../src/store/runs.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { newRun, realEnv } from './runs.ts'

const plainRun = fc.record({
  jobName: fc.constantFrom('a', 'b'),
  payload: fc.constantFrom(null, '{}', '"\\u0000 \\ud800 \' ☃"', '"\uFFFD"', JSON.stringify('x'.repeat(5000))),
  delayMs: fc.constantFrom(null, null, null, 0, 1000),
  runAt: fc.constantFrom(null, null, null, 0, 5_000_000_000_000),
})

/** One of them in a batch, and the whole batch goes the general way. */
const NOT_PLAIN: Partial<NewRun>[] = [
  { idempotencyKey: 'key' },
  { concurrencyKey: 'key' },
  { concurrencyKey: 'key', holdKey: true },
  { deadlineMs: 60_000 },
  { deadlineAt: 5_000_000_000_000 },
  { labels: '{"user":"ada"}' },
  { unchecked: true },
  { preferWorkerId: 'worker' },
]

export function testPlainRuns(openMigrated: () => Promise<SqlStore>): void {
  test('a plain run is stored the same in a batch of plain runs and in one with others', async () => {
    const store = await openMigrated()
    await fc.assert(
      fc.asyncProperty(fc.array(plainRun, { minLength: 1, maxLength: 4 }), fc.constantFrom(...NOT_PLAIN), async (runs, other) => {
        const among = await stored(store, [...runs, { ...other, idempotencyKey: other.idempotencyKey ? realEnv.id() : null }])
        expect(await stored(store, runs)).toEqual(among.slice(0, -1))
      }),
      { numRuns: 30 },
    )
  })

  test.each(NOT_PLAIN)('%j is stored', async (fields) => {
    const store = await openMigrated()
    const [created] = await store.runs.create([newRun(fields)])
    const { deadlineMs, ...kept } = fields
    expect(await store.runs.get(created?.run.id ?? '')).toMatchObject(deadlineMs ? { deadlineAt: expect.any(Number) } : kept)
  })

  test('a batch of plain runs that is sent again stores nothing, and answers as the first time', async () => {
    const store = await openMigrated()
    const runs = [newRun(), newRun(), newRun()]
    const first = await store.runs.create(runs.slice(0, 2))
    expect(first.map(({ created }) => created)).toEqual([true, true])
    const again = await store.runs.create(runs)
    expect(again.map(({ run, created }) => [run.id, created])).toEqual(runs.map(({ id }) => [id, true]))
    for (const { id } of runs) expect(await store.events.list(id)).toHaveLength(1)
  })
}

/** The rows and events of new runs, without what differs between any two runs. The answer must be what is stored. */
async function stored(store: SqlStore, fields: readonly Partial<NewRun>[]) {
  const created = await store.runs.create(fields.map((run) => newRun({ ...run, createdAt: '2026-01-01T00:00:00.000Z' })))
  return Promise.all(
    created.map(async ({ run }, i) => {
      const row = await store.runs.get(run.id)
      expect({ ...run, readAt: 0 }).toEqual({ ...row, readAt: 0 })
      const [event, ...others] = await store.events.list(run.id)
      expect(others).toEqual([])
      const isNow = fields[i]?.runAt === null
      return { ...row, id: '', readAt: 0, runAt: isNow ? 'now' : row?.runAt, event: { ...event, runId: '', createdAt: '' } }
    }),
  )
}
