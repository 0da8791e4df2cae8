import { CompiledQuery, Kysely } from 'kysely'
import LibsqlDatabase from 'libsql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Env, systemEnv } from '../../src/model/env.ts'
import { rejects } from '../../src/testing/assert.ts'
import { DRIVERS, type SqliteDriver } from './drivers.ts'
import { migratedStore, openStore, temporaryFile } from './place.ts'
import { newRun } from './runs.ts'

describe.each(DRIVERS)('$name', ({ dialect }) => {
  test('waits for a lock without holding up the event loop, then writes', async () => {
    const file = temporaryFile()
    const store = await migratedStore(dialect(file))
    const lock = await holdLock(dialect, file)
    let ticks = 0
    const ticking = setInterval(() => ++ticks, 5)
    const created = store.runs.create([newRun()])
    await Promise.race([created, new Promise((resolve) => setTimeout(resolve, 700))])
    expect(ticks).toBeGreaterThan(0)
    clearInterval(ticking)
    await lock.release()
    expect((await created)[0]?.created).toBe(true)
  })

  test('reads go on while a write waits', async () => {
    const file = temporaryFile()
    const store = await migratedStore(dialect(file))
    await store.db.executeQuery(CompiledQuery.raw('PRAGMA journal_mode = WAL'))
    const [{ run } = { run: null }] = await store.runs.create([newRun()])
    const lock = await holdLock(dialect, file)
    const created = store.runs.create([newRun()])
    expect(await store.runs.get(run?.id ?? '')).toEqual(run)
    await lock.release()
    await created
  })

  test('writes keep their order while they wait', async () => {
    const file = temporaryFile()
    const store = await migratedStore(dialect(file))
    const lock = await holdLock(dialect, file)
    const order: number[] = []
    const writes = [0, 1, 2, 3].map((i) => store.runs.create([newRun()]).then(() => order.push(i)))
    await new Promise((resolve) => setTimeout(resolve, 400))
    await lock.release()
    await Promise.all(writes)
    expect(order).toEqual([0, 1, 2, 3])
  })

  test('a lock that is never released ends in store_busy, and nothing is written', async () => {
    const file = temporaryFile()
    const store = await migratedStore(dialect(file), { env: hurried() })
    const lock = await holdLock(dialect, file)
    const error = await rejects(store.runs.create([newRun()]), 'store_busy', 'create')
    expect(error.cause).toBeInstanceOf(Error)
    await rejects(store.logs.append([{ ...LINE }]), 'store_busy', 'a single statement')
    await lock.release()
    expect(await store.runs.list({})).toEqual([])
    await store.runs.create([newRun()])
  })

  test('what is acknowledged after a lock was met is committed', async () => {
    const file = temporaryFile()
    const store = await migratedStore(dialect(file), { env: hurried() })
    const other = openStore(dialect(file))
    for (let round = 1; round <= 5; round++) {
      const lock = await holdLock(dialect, file)
      await rejects(store.runs.cancel('nobody'), 'store_busy', 'a batch')
      await rejects(store.logs.append([{ ...LINE }]), 'store_busy', 'a single statement')
      await lock.release()
      const run = newRun()
      await store.runs.create([run])
      await store.logs.append([{ ...LINE, id: `line ${round}`, runId: run.id }])
      expect(await other.logs.list(run.id), 'another connection sees it').toHaveLength(1)
      await other.runs.create([newRun()])
    }
  }, 60_000)
})

test('the control: libsql answers a write that it did not commit', () => {
  const file = temporaryFile()
  const holder = new LibsqlDatabase(file)
  const victim = new LibsqlDatabase(file)
  holder.exec('CREATE TABLE t (a)')
  holder.prepare('BEGIN IMMEDIATE').run()
  const refused = victim.prepare('BEGIN IMMEDIATE')
  expect(() => refused.run()).toThrow('database is locked')
  holder.prepare('COMMIT').run()
  expect(victim.prepare('INSERT INTO t VALUES (1)').run().changes).toBe(1)
  expect(holder.prepare('SELECT * FROM t').all()).toEqual([])
  refused.run()
  victim.prepare('ROLLBACK').run()
  holder.close()
  victim.close()
})

const LINE = { id: 'line', runId: 'run', stepName: null, level: 'info', message: '', data: null, timestamp: '' } as const

/** Five seconds in a quarter of one. */
function hurried(): Env {
  const env = systemEnv()
  return { ...env, mono: () => env.mono() * 20, timer: (ms, fn) => env.timer(ms / 20, fn) }
}

/** Another connection of the same driver begins to write and does not end. */
async function holdLock(dialect: SqliteDriver['dialect'], file: string): Promise<{ release(): Promise<void> }> {
  const db = new Kysely<unknown>({ dialect: dialect(file) })
  await db.executeQuery(CompiledQuery.raw('begin immediate'))
  let isHeld = true
  const release = async () => {
    if (!isHeld) return
    isHeld = false
    await db.executeQuery(CompiledQuery.raw('commit'))
    await db.destroy()
  }
  onTestFinished(release)
  return { release }
}
