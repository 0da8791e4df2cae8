// Owner writes that no worker sends, but a batch without branching must survive: each takes effect as a whole or not at all.
import { describe, expect, test } from 'vitest'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { DRIVERS } from './drivers.ts'
import { migratedStore, temporaryFile } from './place.ts'
import { claimed, recordStep } from './runs.ts'

const ACCEPTED = { ok: true, cancelRequested: false }
const REFUSED = { ok: false }

describe.each(DRIVERS)('$name', ({ dialect }) => {
  test('another step under a used number writes nothing', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const claim = await claimed(store)
    await store.runs.apply([recordStep(claim, 1)])
    const before = await everything(store, claim.runId)
    expect(await store.runs.apply([recordStep(claim, 1, { name: 'another' })])).toEqual([REFUSED])
    expect(await store.runs.apply([recordStep(claim, 1, { name: 'another', status: 'failed' })])).toEqual([REFUSED])
    expect(await everything(store, claim.runId)).toEqual(before)
  })

  test('the same step under a new number is refused', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const claim = await claimed(store)
    const first = recordStep(claim, 1)
    await store.runs.apply([first])
    const before = await everything(store, claim.runId)
    expect(await store.runs.apply([{ ...first, number: 2 }])).toEqual([REFUSED])
    expect(await store.runs.apply([recordStep(claim, 2, { name: 'another', ...idOf(first) })])).toEqual([REFUSED])
    expect(await everything(store, claim.runId)).toEqual(before)
  })

  test('a refused step is known as refused after later writes', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const claim = await claimed(store)
    await store.runs.apply([recordStep(claim, 1, { name: 'a' })])
    const again = recordStep(claim, 2, { name: 'a' })
    const other = recordStep(claim, 3, { name: 'b' })
    expect(await store.runs.apply([again, other])).toEqual([REFUSED, ACCEPTED])
    expect(await store.runs.apply([again, other])).toEqual([REFUSED, ACCEPTED])
    const { run, steps, events } = await everything(store, claim.runId)
    expect([run?.currentStepIndex, run?.leaseWrites, steps.length]).toEqual([2, 3, 2])
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('writes of one run in one call keep their order', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const one = await claimed(store)
    const other = await claimed(store)
    const writes = [recordStep(one, 1), recordStep(other, 1), recordStep(one, 2), recordStep(other, 2), recordStep(one, 3)]
    expect(await store.runs.apply(writes)).toEqual(writes.map(() => ACCEPTED))
    expect((await store.steps.list(one.runId)).map(({ name }) => name)).toEqual(['step 1', 'step 2', 'step 3'])
    expect((await store.runs.get(one.runId))?.leaseWrites).toBe(3)
  })
})

function idOf({ verb }: ReturnType<typeof recordStep>): { id: string } {
  return { id: verb.type === 'recordStep' ? verb.step.id : '' }
}

async function everything(store: SqlStore, id: string) {
  return { run: await store.runs.get(id), steps: await store.steps.list(id), events: await store.events.list(id) }
}
