// The drivers' traps (DESIGN §6), each sprung once.
import { readdirSync } from 'node:fs'
import { CompiledQuery, Kysely } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { iso } from '../../src/model/env.ts'
import type { DurablyTables } from '../../src/store/sql/shared/schema.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { rejects } from '../../src/testing/assert.ts'
import { DRIVERS, NEWER_CLIENT } from './drivers.ts'
import { migratedStore, temporaryFile } from './place.ts'
import { bundleChild, inProcesses } from './processes.ts'
import { claimed, newRun, realEnv, recordStep } from './runs.ts'
import { openSession } from './session.ts'

let child = ''
beforeAll(async () => {
  child = await bundleChild('traps')
})

describe.each([...DRIVERS, NEWER_CLIENT])('$name', ({ name, dialect }) => {
  test('a boolean is bound as 1 or 0 (in libsql it would abort the process)', async () => {
    const session = openSession(dialect(temporaryFile()))
    const query = CompiledQuery.raw('SELECT ? AS yes, ? AS no, ? AS text', [true, false, 'x'])
    expect(await session.read(query)).toMatchObject([{ yes: 1, no: 0, text: 'x' }])
    const [, rows] = await session.write([query, query])
    expect(rows).toMatchObject([{ yes: 1, no: 0, text: 'x' }])
  })

  test.each([
    ['undefined', undefined],
    ['a Date', new Date(0)],
    ['an object', { a: 1 }],
    ['an array', [1]],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a function', () => {}],
    ['a symbol', Symbol('s')],
  ])('%s never reaches the driver', async (_, value) => {
    const session = openSession(dialect(temporaryFile()))
    const query = CompiledQuery.raw('SELECT ? AS a, ? AS b', [value, 'p'])
    const { message } = await rejects(session.read(query), 'store_rejected', 'a read')
    expect(message).toMatch(/^parameter 1 is .* and cannot be stored; pass a text, a number or null$/)
    await rejects(session.write([CompiledQuery.raw('SELECT 1'), CompiledQuery.raw('SELECT ?', [value])]), 'store_rejected', 'a batch')
  })

  test('a log line with a NUL or half of a surrogate pair is kept, and readable', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const claim = await claimed(store)
    const line = { id: realEnv.id(), runId: claim.runId, stepName: null, level: 'info' as const, data: null, timestamp: iso(0) }
    await store.logs.append([{ ...line, message: 'before \ud800 after \0 end' }])
    const write = { ...recordStep(claim, 1), logs: [{ ...line, id: realEnv.id(), message: '\udfff' }] }
    await store.runs.apply([write])
    expect((await store.logs.list(claim.runId)).map(({ message }) => message)).toEqual(['before \uFFFD after \uFFFD end', '\uFFFD'])
  })

  test('numbers that are bound as REAL are stored as INTEGER', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    const claim = await claimed(store)
    await store.runs.apply([recordStep(claim, 1)])
    const types = `SELECT DISTINCT typeof(run_at) || typeof(lease_expires_at) || typeof(started_at) || typeof(last_event_sequence) || typeof(lease_writes) AS t FROM runs
      UNION SELECT DISTINCT typeof(seq) FROM run_events UNION SELECT DISTINCT typeof("index") || typeof(lease_generation) FROM steps`
    expect((await query(store, types)).map(({ t }) => String(t).replaceAll('integer', ''))).toEqual(['', '', ''])
  })

  test('two connections that read and write in turn never meet BUSY_SNAPSHOT', async () => {
    const file = temporaryFile()
    const one = await migratedStore(dialect(file))
    const two = await migratedStore(dialect(file))
    await query(one, 'PRAGMA journal_mode = WAL')
    await query(one, 'PRAGMA synchronous = OFF')
    await query(two, 'PRAGMA synchronous = OFF')
    const work = async (store: SqlStore) => {
      for (let i = 0; i < 40; i++) {
        await store.runs.create([newRun(), newRun()])
        await store.runs.list({ limit: 1 })
      }
    }
    await Promise.all([work(one), work(two), work(one), work(two)])
    expect(await one.runs.list({})).toHaveLength(320)
  })

  test('ten transactions at once all succeed', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    await Promise.all(Array.from({ length: 10 }, () => store.runs.create([newRun(), newRun()])))
    expect(await store.runs.list({})).toHaveLength(20)
  })

  test('10,000 recorded steps leave no descriptor behind', async () => {
    const store = await migratedStore(dialect(temporaryFile()))
    await query(store, 'PRAGMA journal_mode = WAL')
    await query(store, 'PRAGMA synchronous = OFF')
    const claims = await Promise.all(Array.from({ length: 10 }, () => claimed(store)))
    const step = (number: number) => Promise.all(claims.map((claim) => store.runs.apply([recordStep(claim, number)])))
    await step(1)
    const before = descriptors()
    for (let number = 2; number <= 1000; number++) await step(number)
    expect(descriptors()).toBe(before)
    expect(await store.steps.list(claims[0]?.runId ?? '')).toHaveLength(1000)
  }, 120_000)

  test('two processes on one file claim disjoint runs', async () => {
    const file = temporaryFile()
    const store = await migratedStore(dialect(file))
    const runs = Array.from({ length: 200 }, () => newRun())
    await store.runs.create(runs)
    await store.close()
    const task = { driver: name, file, act: 'claim' as const }
    const answers = await inProcesses(child, [task, task])
    const ids = answers.flatMap((answer) => ('ids' in answer ? answer.ids : [answer.error]))
    expect(ids.sort()).toEqual(runs.map(({ id }) => id).sort())
  }, 60_000)
})

test("the control: Kysely's own transaction begins deferred and fails at once", async () => {
  const [{ dialect } = { dialect: () => ({}) as never }] = DRIVERS
  const file = temporaryFile()
  const store = await migratedStore(dialect(file))
  const other = new Kysely<DurablyTables>({ dialect: dialect(file) })
  const deferred = other.transaction().execute(async (trx) => {
    await trx.selectFrom('runs').select('id').execute()
    await store.runs.create([newRun()])
    await trx.deleteFrom('runs').execute()
  })
  await expect(deferred).rejects.toThrow('database is locked')
  await other.destroy()
})

function descriptors(): number {
  return readdirSync('/proc/self/fd').length
}

async function query({ db }: SqlStore, sql: string): Promise<Record<string, unknown>[]> {
  return (await db.executeQuery(CompiledQuery.raw(sql))).rows as Record<string, unknown>[]
}
