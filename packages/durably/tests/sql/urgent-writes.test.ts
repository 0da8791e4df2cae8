// What keeps runs alive does not wait behind other statements of the process.
import { expect, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { migratedStore, temporaryFile } from './place.ts'
import { claimed, newRun, recordStep } from './runs.ts'

test('the write of an owner goes before the statements that wait, and those keep their order', async () => {
  const store = await migratedStore(sqlite(temporaryFile()))
  await store.runs.create([newRun()])
  const claim = await claimed(store)
  const order: string[] = []
  const note = (what: string, done: Promise<unknown>) => done.then(() => order.push(what))
  // While a transaction of the user has the connection, all of them wait.
  const waiting = await store.db.transaction().execute(async () => {
    const creates = [1, 2, 3].map((n) => note(`create ${n}`, store.runs.create([newRun(), newRun()])))
    return [...creates, note('owner', store.runs.apply([recordStep(claim, 1)]))].map((done) => ({ done }))
  })
  await Promise.all(waiting.map(({ done }) => done))
  expect(order).toEqual(['create 1', 'owner', 'create 2', 'create 3'])
})
