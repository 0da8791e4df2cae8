import { describe, expect, test } from 'vitest'
import { DRIVERS } from './drivers.ts'
import { migratedStore, temporaryFile } from './place.ts'
import { newRun } from './runs.ts'

describe.each(DRIVERS)('$name', ({ dialect }) => {
  test('a claimed run is the one that is stored, in every column', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const strange = '"quotes" \\ and / \u0001 \n\u2028 é 😀 {"a":[1.5,true,null]}'
    const texts = { payload: strange, concurrencyKey: strange, idempotencyKey: strange, labels: JSON.stringify({ strange }) }
    await store.runs.create([
      newRun(),
      newRun({ ...texts, holdKey: true, preferWorkerId: strange, deadlineMs: 5000 }),
      newRun({ payload: JSON.stringify('x'.repeat(100_000)) }),
    ])
    const claimed = await store.runs.claim({ jobNames: ['job'], tokens: ['a', 'b', 'c'], leaseMs: 1000 })
    expect(claimed).toHaveLength(3)
    for (const run of claimed) expect(await store.runs.get(run.id)).toEqual(run)
    expect(await store.runs.adopt(['a', 'b', 'c'])).toEqual(claimed)
  })
})
