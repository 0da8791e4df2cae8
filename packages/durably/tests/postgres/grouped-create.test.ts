import { describe, expect, test } from 'vitest'
import { DurablyError } from '../../src/model/errors.ts'
import { newRow } from '../../src/store/new-row.ts'
import type { NewRun } from '../../src/store/runs.ts'
import { groupedCreate } from '../../src/store/sql/shared/grouped-create.ts'

/** A store that notes its calls, and refuses those with a run named `bad`. */
function world() {
  const calls: string[][] = []
  const create = groupedCreate(async (runs) => {
    calls.push(runs.map(({ id }) => id))
    await null
    if (runs.some(({ id }) => id === 'bad')) throw new DurablyError('store_rejected', 'bad')
    return runs.map((run) => ({ run: newRow(run, 0), created: true }))
  })
  const idOf = async (id: string, given: Partial<NewRun> = {}) => (await create([newRun(id, given)]))[0]?.run.id
  return { calls, create, idOf }
}

describe('groupedCreate', () => {
  test('calls of one turn share a call of the store, and each gets its own run', async () => {
    const { calls, idOf } = world()
    expect(await Promise.all(['a', 'b', 'c'].map((id) => idOf(id)))).toEqual(['a', 'b', 'c'])
    expect(await idOf('d')).toBe('d')
    expect(calls).toEqual([['a', 'b', 'c'], ['d']])
  })

  test('a call that comes while another is under way does not wait for it', async () => {
    const { calls, idOf } = world()
    const first = idOf('a')
    await null
    await null
    const second = idOf('b')
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
    expect(calls).toEqual([['a'], ['b']])
  })

  test('no member of many groups is lost', async () => {
    const { calls, idOf } = world()
    const ids = Array.from({ length: 250 }, (_, i) => `run ${i}`)
    expect(await Promise.all(ids.map((id) => idOf(id)))).toEqual(ids)
    expect(calls.map(({ length }) => length)).toEqual([100, 100, 50])
  })

  test('one that the store rejects fails alone', async () => {
    const { calls, idOf } = world()
    const [a, bad, b] = await Promise.allSettled(['a', 'bad', 'b'].map((id) => idOf(id)))
    expect([a, b]).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'fulfilled', value: 'b' },
    ])
    expect(bad).toMatchObject({ reason: { code: 'store_rejected' } })
    expect(calls).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']])
    await expect(idOf('bad')).rejects.toMatchObject({ code: 'store_rejected' })
  })

  test('a batch, a large payload and a transaction of the caller go alone', async () => {
    const { calls, create, idOf } = world()
    const large = idOf('large', { payload: 'x'.repeat(10_001) })
    const batch = create([newRun('b'), newRun('c')])
    const within = create([newRun('d')], { within: {} })
    await Promise.all([idOf('a'), large, batch, within])
    expect(calls).toEqual([['large'], ['b', 'c'], ['d'], ['a']])
  })
})

function newRun(id: string, given: Partial<NewRun> = {}): NewRun {
  return {
    ...{ id, jobName: 'job', payload: null, idempotencyKey: null, concurrencyKey: null, holdKey: false, labels: null, createdAt: '' },
    ...{ delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null, parentRunId: null, parentStep: null, parentToken: null },
    ...given,
  }
}
