import { describe, expect, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { DRIVERS } from './drivers.ts'
import { answering } from './fake-driver.ts'
import { migratedStore, temporaryFile } from './place.ts'
import { testPlainRuns } from './plain-runs.ts'
import { newRun } from './runs.ts'

describe.each(DRIVERS)('$name', ({ dialect }) => {
  testPlainRuns(() => migratedStore(dialect(temporaryFile())))
})

test('without an event log a batch is one statement, and still stored as a whole or not at all', async () => {
  let isDown = false
  // The general way, which comes after a run was found that is there already.
  const dialect = answering(sqlite(temporaryFile()), ({ sql }) => {
    if (isDown && sql.includes('ON CONFLICT')) throw new Error('the process has died')
    return undefined
  })
  const store = await migratedStore(dialect, { eventLog: false })
  const [known, next] = [newRun(), newRun()]
  await store.runs.create([known])
  isDown = true
  await expect(store.runs.create([next, known])).rejects.toThrow('the process has died')
  expect(await store.runs.get(next.id)).toBeNull()
})
