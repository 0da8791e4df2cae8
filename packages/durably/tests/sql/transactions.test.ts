// What the contract cannot show: transactions whose end nobody hears of, and drivers that have none.
import { describe, expect, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import type { OwnerWrite } from '../../src/store/owner-write.ts'
import { rejects } from '../../src/testing/assert.ts'
import { DRIVERS } from './drivers.ts'
import { answering } from './fake-driver.ts'
import { migratedStore, temporaryFile } from './place.ts'
import { claimed, recordStep } from './runs.ts'
import { userTable } from './user-table.ts'

/** Whenever one of these words is sent, the line is dead. */
async function setup() {
  const dead: { words: string[] } = { words: [] }
  const file = temporaryFile()
  const witness = await migratedStore(sqlite(file))
  const store = await migratedStore(
    answering(sqlite(file), ({ sql }) => {
      if (dead.words.includes(sql)) throw new Error('the line is dead')
      return undefined
    }),
  )
  const claim = await claimed(store)
  return { dead, store, witness, claim, table: await userTable(store), transact: transactOf(store) }
}

function transactOf({ transact }: { transact?: (body: (trx: unknown) => Promise<OwnerWrite>) => Promise<unknown> }) {
  if (!transact) throw new Error('there are no transactions')
  return transact
}

describe('a transaction', () => {
  test('whose commit and rollback are not answered rejects: its outcome is unknown (S2)', async () => {
    const { dead, claim, table, transact, witness } = await setup()
    dead.words.push('commit', 'rollback')
    const lost = transact(async (trx) => {
      await table.insert(trx, 'a')
      return recordStep(claim, 1)
    })
    await rejects(lost, 'store_unavailable', 'transact')
    expect(await witness.steps.list(claim.runId)).toEqual([])
  })

  test('whose commit fails and which could be rolled back rejects: that is not the fault of the body', async () => {
    const { dead, store, claim, table, transact } = await setup()
    dead.words.push('commit')
    const lost = transact(async (trx) => {
      await table.insert(trx, 'a')
      return recordStep(claim, 1)
    })
    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' })
    dead.words.length = 0
    expect(await table.values()).toEqual([])
    expect(await store.steps.list(claim.runId)).toEqual([])
    expect(await store.runs.apply([recordStep(claim, 1)])).toEqual([{ ok: true, cancelRequested: false }])
  })

  test('that could not begin has not called the body', async () => {
    const { dead, claim, transact } = await setup()
    dead.words.push('begin immediate')
    let calls = 0
    const lost = transact(async () => {
      calls += 1
      return recordStep(claim, 1)
    })
    await rejects(lost, 'store_unavailable', 'transact')
    expect(calls).toBe(0)
  })

  test('of a closed store is refused', async () => {
    const { store, claim, transact } = await setup()
    await store.close()
    await rejects((async () => transact(async () => recordStep(claim, 1)))(), 'store_closed', 'transact')
  })

  test('over @libsql/client says what to do instead, and calls nothing', async () => {
    const driver = DRIVERS.find(({ name }) => name === 'LibsqlDialect')
    if (!driver) throw new Error('LibsqlDialect is not there')
    const store = await migratedStore(driver.dialect(temporaryFile()))
    const claim = await claimed(store)
    let calls = 0
    const refused = transactOf(store)(async () => {
      calls += 1
      return recordStep(claim, 1)
    })
    const error = await rejects(refused, 'transaction_unsupported', 'transact')
    expect(error.message).toContain('sqlite()')
    expect(calls).toBe(0)
  })
})
