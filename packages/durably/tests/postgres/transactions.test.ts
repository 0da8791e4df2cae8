import { CompiledQuery, type Kysely } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { rejects } from '../../src/testing/assert.ts'
import { migratedStore } from '../sql/place.ts'
import { claimed, newRun, recordStep } from '../sql/runs.ts'
import { userTable } from '../sql/user-table.ts'
import { DIALECTS, temporaryDatabase } from './place.ts'
import { wireTo } from './wire.ts'

describe.each(DIALECTS)('$name', ({ name, over }) => {
  async function setup() {
    const { pool, roundTrips } = wireTo(await temporaryDatabase(), { max: 4 })
    if (name !== 'postgres()') pool.on('connect', (client) => client.on('error', () => {}))
    onTestFinished(() => pool.end())
    const store = await migratedStore(over(pool))
    if (!store.transact) throw new Error('there are no transactions')
    return { store, transact: store.transact, roundTrips, claim: await claimed(store), table: await userTable(store) }
  }

  test('a connection that is lost inside a transaction rejects, leaves nothing, and the next one works', async () => {
    const { store, transact, claim, table } = await setup()
    const lost = transact(async (trx) => {
      await table.insert(trx, 'a')
      await (trx as Kysely<unknown>).executeQuery(CompiledQuery.raw('SELECT pg_terminate_backend(pg_backend_pid())'))
      return recordStep(claim, 1)
    })
    await rejects(lost, 'store_unavailable', 'transact')
    expect(await table.values()).toEqual([])
    expect(await store.steps.list(claim.runId)).toEqual([])
    const again = await transact(async (trx) => {
      await table.insert(trx, 'b')
      return recordStep(claim, 1)
    })
    expect(again).toEqual({ ok: true, cancelRequested: false })
    expect(await table.values()).toEqual(['b'])
  })

  test('a statement that failed and was caught undoes the transaction, whatever the body says', async () => {
    const { store, transact, claim, table } = await setup()
    const outcome = await transact(async (trx) => {
      await table.insert(trx, 'a')
      await table.breakRules(trx).catch(() => {})
      return recordStep(claim, 1)
    })
    expect(outcome).toHaveProperty('undone')
    expect(await table.values()).toEqual([])
    expect(await store.steps.list(claim.runId)).toEqual([])
  })

  test.each(['40001', '40P01'])('%s in a statement of the user says that it may be run again, another error does not', async (state) => {
    const { transact, claim, table } = await setup()
    const raising = (code: string) =>
      transact(async (trx) => {
        await table.insert(trx, 'a')
        const raise = `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`
        await (trx as Kysely<unknown>).executeQuery(CompiledQuery.raw(raise))
        return recordStep(claim, 1)
      })
    expect(await raising(state)).toMatchObject({ undone: { code: state }, inConflict: true })
    expect(await raising('55P03')).toMatchObject({ undone: { code: '55P03' }, inConflict: false })
    expect(await table.values()).toEqual([])
  })

  test('a transaction with two rows of the user is begin, two inserts, one write and commit', async () => {
    const { transact, claim, table, roundTrips } = await setup()
    const act = () =>
      transact(async (trx) => {
        await table.insert(trx, 'a')
        await table.insert(trx, 'b')
        return recordStep(claim, 1)
      })
    expect(await roundTrips(act)).toBe(5)
  })

  test('a run that is sent back while a purge waits for it is not purged', async () => {
    const { store, claim } = await setup()
    await store.runs.apply([{ ...recordStep(claim, 1), verb: failed }])
    const retried = store.db.transaction().execute(async (trx) => {
      await trx.executeQuery(CompiledQuery.raw(`UPDATE runs SET status = 'pending', finished_at = NULL WHERE id = $1`, [claim.runId]))
      const purged = store.runs.purge({ statuses: ['failed'], olderThanMs: 0, limit: 10 })
      await untilSomeoneWaits(store.db)
      return { purged }
    })
    expect(await (await retried).purged).toBe(0)
    expect((await store.runs.get(claim.runId))?.status).toBe('pending')
  })

  test('two workers that end children of one run, and the run that parks, do not deadlock', async () => {
    const { store, claim } = await setup()
    const children = Array.from({ length: 20 }, () => newRun({ parentRunId: claim.runId }))
    await store.runs.create(children)
    const rows = await store.runs.claim({ jobNames: ['job'], tokens: children.map(({ id }) => id), leaseMs: 60_000 })
    const ends = rows.map(({ id, leaseGeneration, leaseOwner }) => ({
      ...recordStep({ runId: id, generation: leaseGeneration, token: leaseOwner ?? '', parentRunId: claim.runId }, 1),
      verb: { type: 'complete', output: null } as const,
    }))
    const pages = Array.from({ length: 5 }, (_, i) => ends.slice(4 * i, 4 * i + 4))
    await Promise.all(pages.map((page, i) => store.runs.apply(i % 2 ? [recordStep(claim, i), ...page] : page.reverse())))
    expect((await store.runs.get(claim.runId))?.signals).toBe(20)
  })
})

const failed = { type: 'fail', error: '', failure: '{}', reason: 'error', failedStepName: '' } as const

async function untilSomeoneWaits(db: { executeQuery(query: CompiledQuery): Promise<{ rows: unknown[] }> }): Promise<void> {
  for (let looks = 0; looks < 200; looks++) {
    const { rows } = await db.executeQuery(CompiledQuery.raw(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`))
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
