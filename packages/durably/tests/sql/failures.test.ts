import { readFileSync, writeFileSync } from 'node:fs'
import { CompiledQuery, SqliteDialect } from 'kysely'
import LibsqlDatabase from 'libsql'
import { describe, expect, test } from 'vitest'
import { isPassing } from '../../src/model/errors.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { rejects } from '../../src/testing/assert.ts'
import { DRIVERS } from './drivers.ts'
import { migratedStore, openStore, temporaryFile } from './place.ts'
import { claimed, newRun, recordStep } from './runs.ts'

describe.each(DRIVERS)('$name', ({ dialect }) => {
  test('a full disk refuses the write as a whole, and the same write succeeds once there is room', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const claim = await claimed(store)
    const [{ page_count: pages } = {}] = await query(store, 'PRAGMA page_count')
    await query(store, `PRAGMA max_page_count = ${Number(pages) + 2}`)
    const write = recordStep(claim, 1, { output: JSON.stringify('x'.repeat(100_000)) })
    const error = await rejects(store.runs.apply([write]), 'store_full', 'apply')
    expect(isPassing(error)).toBe(true)
    expect(await store.steps.list(claim.runId)).toEqual([])
    expect(await store.events.list(claim.runId)).toHaveLength(2)
    await query(store, 'PRAGMA max_page_count = 100000')
    expect(await store.runs.apply([write])).toEqual([{ ok: true, cancelRequested: false }])
    expect(await store.steps.list(claim.runId)).toHaveLength(1)
  })

  test('a connection that may not write can still read', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const { runId } = await claimed(store)
    await query(store, 'PRAGMA query_only = 1')
    await rejects(store.runs.create([newRun()]), 'store_readonly', 'create')
    expect((await store.runs.get(runId))?.id).toBe(runId)
    await query(store, 'PRAGMA query_only = 0')
    await store.runs.create([newRun()])
  })

  test('a file that is not a database is called so', async () => {
    const file = temporaryFile()
    writeFileSync(file, 'this is a letter, and not a database at all\n'.repeat(200))
    await rejects(
      broken(() => openStore(dialect(file)).migrate()),
      'store_corrupt',
      'migrate',
    )
  })

  test('a damaged file is called damaged', async () => {
    const file = temporaryFile()
    const store = await migratedStore(dialect(file))
    await store.runs.create(Array.from({ length: 50 }, () => newRun({ payload: JSON.stringify('x'.repeat(1000)) })))
    await query(store, 'PRAGMA wal_checkpoint(TRUNCATE)')
    await store.close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xaa, 4096 * 2))
    const error = await rejects(openStore(dialect(file)).runs.list({}), 'store_corrupt', 'list')
    expect(isPassing(error)).toBe(false)
  })

  test('a row that cannot be read names its column, and can be deleted', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const [{ run } = { run: { id: '' } }] = await store.runs.create([newRun()])
    await store.runs.cancel(run.id)
    await query(store, `UPDATE runs SET version = 'many'`)
    const error = await rejects(store.runs.get(run.id), 'row_unreadable', 'get')
    expect(error.message).toContain(`run ${run.id}: column version holds "many"; repair the row or delete the run`)
    expect(await store.runs.delete(run.id)).toEqual({ outcome: 'deleted', status: 'cancelled' })
  })

  test('an unknown status, level or event type is not passed on', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const { runId } = await claimed(store)
    await query(store, `UPDATE run_events SET event_type = 'run:explode'`)
    await rejects(store.events.list(runId), 'row_unreadable', 'events')
    await query(store, 'PRAGMA ignore_check_constraints = 1')
    await query(store, `UPDATE runs SET status = 'exploded'`)
    await rejects(store.runs.get(runId), 'row_unreadable', 'get')
    await query(store, `INSERT INTO logs VALUES ('id', '${runId}', NULL, 'shout', 'm', NULL, 'at')`)
    await rejects(store.logs.list(runId), 'row_unreadable', 'logs')
  })

  test('a closed store says so, and may be closed again', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const last = store.runs.create([newRun()])
    await Promise.all([store.close(), store.close()])
    expect((await last)[0]?.created, 'what was asked for before is done').toBe(true)
    await rejects(store.runs.get('x'), 'store_closed', 'a read')
    await rejects(store.runs.create([newRun()]), 'store_closed', 'a write')
    await store.close()
  })
})

test.each([
  ['sqlite()', (file: string) => sqlite(`file:${file}?mode=ro`)],
  ['libsql', (file: string) => new SqliteDialect({ database: async () => new LibsqlDatabase(`file:${file}?mode=ro`) })],
])('%s on a read-only database reads, and refuses to write', async (name, readOnly) => {
  const file = temporaryFile()
  const driver = DRIVERS.find((driver) => driver.name.startsWith(name))
  const writer = await migratedStore(driver?.dialect(file) ?? sqlite(file))
  const { runId } = await claimed(writer)
  const reader = openStore(readOnly(file))
  await reader.migrate()
  expect((await reader.runs.get(runId))?.status).toBe('running')
  await rejects(reader.runs.create([newRun()]), 'store_readonly', 'create')
})

/** A driver may open its file when it is made, which is not yet in a promise. */
async function broken(act: () => Promise<void>): Promise<void> {
  await act()
}

async function query({ db }: SqlStore, sql: string): Promise<Record<string, unknown>[]> {
  return (await db.executeQuery(CompiledQuery.raw(sql))).rows as Record<string, unknown>[]
}
