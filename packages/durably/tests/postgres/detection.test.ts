import { type Dialect, PostgresAdapter, PostgresDialect, PostgresQueryCompiler, SqliteAdapter } from 'kysely'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { detectDialect } from '../../src/store/sql/shared/detect.ts'
import { rejects } from '../../src/testing/assert.ts'
import { answering } from '../sql/fake-driver.ts'
import { openStore } from '../sql/place.ts'
import { newRun } from '../sql/runs.ts'
import { temporaryDatabase } from './place.ts'

const CERTAIN = { kind: 'postgres', certain: true }

describe('the dialect is recognised', () => {
  test('postgres() and PostgresDialect', () => {
    expect(detectDialect(postgres('postgres://nowhere'))).toEqual(CERTAIN)
    expect(detectDialect(new PostgresDialect({ pool: async () => ({}) as never }))).toEqual(CERTAIN)
  })

  test('a subclass with a minified name', async () => {
    const a = class extends PostgresDialect {}
    Object.defineProperty(a, 'name', { value: 'a' })
    const pool = new pg.Pool({ connectionString: await temporaryDatabase() })
    // Dropping its database may cut a connection that is just ending.
    pool.on('error', () => {})
    const store = openStore(new a({ pool }))
    await store.migrate()
    expect(await store.runs.create([newRun()])).toHaveLength(1)
  })

  test('an adapter that extends the one of Postgres', () => {
    class b extends PostgresAdapter {}
    expect(detectDialect(parts(new b(), postgres('postgres://nowhere')))).toEqual(CERTAIN)
  })

  test('a Postgres dialect of another copy of Kysely, once its database has said so', async () => {
    const dialect = parts(stranger('PostgresAdapter'), postgres(await temporaryDatabase()))
    expect(detectDialect(dialect)).toEqual({ kind: 'postgres', certain: false })
    const store = openStore(dialect)
    await store.migrate()
    expect(await store.runs.create([newRun()])).toHaveLength(1)
  })

  test('by an explicit word', () => {
    expect(detectDialect(parts(stranger('c'), postgres('postgres://nowhere')), 'postgres')).toEqual(CERTAIN)
  })
})

test('a database that writes $1 but is not Postgres is refused', async () => {
  const database = answering(sqlite(':memory:'), () => {
    throw new Error('no such function: current_setting')
  })
  const store = openStore(parts(stranger('OtherAdapter'), database))
  const error = await rejects(store.runs.get('x'), 'unknown_dialect', 'its first use')
  expect(error.message).toContain('OtherAdapter')
  expect(error.message).toContain('PostgresAdapter')
  await rejects(store.migrate(), 'unknown_dialect', 'its second use')
})

test('a database that cannot be reached is not called unknown', async () => {
  const store = openStore(parts(stranger('PostgresAdapter'), postgres('postgres://127.0.0.1:1/none')))
  await rejects(store.runs.get('x'), 'store_unavailable', 'a read')
})

test.each([
  ['nothing', undefined as never],
  ['an empty text', ''],
  ['a number', 5432 as never],
])('postgres() refuses %s', (_, place) => {
  expect(() => postgres(place)).toThrow('postgres() needs a URL')
})

test.each([{ max: 0 }, { max: 1.5 }, { prepare: 'no' as never }, { listenUrl: '' }])('postgres() refuses the options %j', (options) => {
  expect(() => postgres('postgres://nowhere', options)).toThrow(/must be/)
})

/** What `instanceof` says of a class that was loaded twice. */
function stranger(name: string): ReturnType<Dialect['createAdapter']> {
  const strange = class {}
  Object.defineProperty(strange, 'name', { value: name })
  const { supportsTransactionalDdl, supportsReturning } = new SqliteAdapter()
  return Object.assign(Object.create(strange.prototype), { supportsTransactionalDdl, supportsReturning })
}

function parts(adapter: ReturnType<Dialect['createAdapter']>, dialect: Dialect): Dialect {
  return {
    createAdapter: () => adapter,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}
