// A file that is deleted, moved or replaced under a live process: nothing is acknowledged into nowhere.
import { copyFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { migratedStore, openStore, temporaryFile } from './place.ts'
import { claimed, newRun, recordStep } from './runs.ts'

const LOSSES: Record<string, { lose(file: string): void; says: string }> = {
  deleted: { lose: (file) => rmSync(file), says: 'deleted or moved' },
  moved: { lose: (file) => renameSync(file, `${file}.old`), says: 'deleted or moved' },
  'replaced by a copy': {
    lose(file) {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
    says: 'replaced',
  },
  'replaced by a link to it': {
    lose(file) {
      renameSync(file, `${file}.real`)
      symlinkSync(`${file}.real`, file)
    },
    says: 'replaced',
  },
  'robbed of its log': { lose: (file) => rmSync(`${file}-wal`), says: 'deleted or moved' },
  'given another log': {
    lose(file) {
      copyFileSync(`${file}-wal`, `${file}.copy`)
      renameSync(`${file}.copy`, `${file}-wal`)
    },
    says: 'replaced',
  },
}

describe.each(Object.entries(LOSSES))('a file that is %s', (_, { lose, says }) => {
  test('lets every call reject with store_gone, and what to do', async () => {
    const file = temporaryFile()
    const store = await migratedStore(sqlite(file))
    await store.runs.create([newRun()])
    const claim = await claimed(store)
    lose(file)
    const calls: [string, () => Promise<unknown>][] = [
      ['create', () => store.runs.create([newRun()])],
      ['apply', () => store.runs.apply([recordStep(claim, 1)])],
      ['claim', () => store.runs.claim({ jobNames: ['job'], tokens: ['t'], leaseMs: 1000 })],
      ['get', () => store.runs.get(claim.runId)],
      ['transact', () => store.transact?.(async () => recordStep(claim, 2)) ?? Promise.resolve()],
    ]
    for (const [what, call] of calls) {
      const error = await rejects(call(), 'store_gone', what)
      expect(error.message).toContain(JSON.stringify(file).slice(0, -1))
      expect(error.message).toContain(says)
      expect(error.message).toContain('put the file back')
    }
  })

  test('stops the worker in the middle of its work, and the run is not failed', async () => {
    const file = temporaryFile()
    const durably = createDurably({ dialect: sqlite(file), pollingInterval: 10 })
    onTestFinished(() => durably[Symbol.asyncDispose]())
    await durably.migrate()
    const codes: string[] = []
    durably.on('worker:error', ({ cause }) => void codes.push((cause as { code: string }).code))
    const ends: string[] = []
    for (const type of ['run:complete', 'run:fail', 'step:complete'] as const) durably.on(type, () => void ends.push(type))
    let told = (_: unknown) => {}
    const stopped = new Promise((resolve) => {
      told = resolve
    })
    const job = durably.defineJob({ name: 'job', input: z.unknown() }, async (ctx) => {
      ctx.signal.addEventListener('abort', () => told(ctx.signal.reason))
      await ctx.run('step', () => lose(file))
    })
    await job.trigger(null)
    durably.start()
    expect(await stopped).toMatchObject({ code: 'lease_lost', message: expect.stringContaining('cannot be used any more') })
    await durably.stop()
    expect(codes).toContain('store_gone')
    expect(ends).toEqual([])
    await expect(job.trigger(null)).rejects.toMatchObject({ code: 'store_gone' })
  })
})

test('a file that is put back is used again', async () => {
  const file = temporaryFile()
  const store = await migratedStore(sqlite(file))
  renameSync(file, `${file}.old`)
  await rejects(store.runs.create([newRun()]), 'store_gone', 'create')
  renameSync(`${file}.old`, file)
  await store.runs.create([newRun()])
  expect((await openStore(sqlite(file)).runs.list({})).length).toBeGreaterThan(0)
})

test('a log that is written back to the file by others, or given up for another journal, is no loss', async () => {
  const file = temporaryFile()
  const store = await migratedStore(sqlite(file))
  await store.runs.create([newRun()])
  const other = createDurably({ dialect: sqlite(file) })
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(other.db)
  await other[Symbol.asyncDispose]()
  await store.runs.create([newRun()])
  const alone = createDurably({ dialect: sqlite(temporaryFile()) })
  onTestFinished(() => alone[Symbol.asyncDispose]())
  await alone.migrate()
  for (const mode of ['DELETE', 'WAL', 'DELETE']) {
    await sql.raw(`PRAGMA journal_mode = ${mode}`).execute(alone.db)
    expect(await alone.getRuns()).toEqual([])
  }
})

test('a database in memory has no file to lose', async () => {
  const store = await migratedStore(sqlite(':memory:'))
  await store.runs.create([newRun()])
  expect(await store.runs.list({})).toHaveLength(1)
})

test('is noticed after a transaction that SQLite has rolled back by itself', async () => {
  const file = temporaryFile()
  const store = await migratedStore(sqlite(file))
  await sql`CREATE TABLE filled (data BLOB)`.execute(store.db)
  await sql`PRAGMA max_page_count = 1`.execute(store.db)
  const filling = store.db.transaction().execute(async (trx) => {
    await sql`INSERT INTO filled VALUES (zeroblob(10000000))`.execute(trx)
  })
  await expect(filling).rejects.toThrow()
  rmSync(file)
  await rejects(store.runs.get('none'), 'store_gone', 'one statement')
  await rejects(store.runs.create([newRun()]), 'store_gone', 'a transaction')
})
