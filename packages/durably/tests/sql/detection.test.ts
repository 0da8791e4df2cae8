import { type Dialect, MysqlAdapter, MysqlQueryCompiler, SqliteAdapter, SqliteDialect, SqliteQueryCompiler } from 'kysely'
import LibsqlDatabase from 'libsql'
import { describe, expect, test } from 'vitest'
import { DurablyError } from '../../src/model/errors.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { detectDialect } from '../../src/store/sql/shared/detect.ts'
import { sqlStore } from '../../src/store/sql/sql-store.ts'
import { rejects } from '../../src/testing/assert.ts'
import { DRIVERS } from './drivers.ts'
import { answering } from './fake-driver.ts'
import { openStore, temporaryFile } from './place.ts'
import { newRun } from './runs.ts'

describe('the dialect is recognised', () => {
  test.each(DRIVERS)('$name', ({ dialect }) => {
    expect(detectDialect(dialect(temporaryFile()))).toEqual({ kind: 'sqlite', certain: true })
  })

  test('a subclass with a minified name', async () => {
    const a = class extends SqliteDialect {}
    Object.defineProperty(a, 'name', { value: 'a' })
    const store = openStore(new a({ database: async () => new LibsqlDatabase(temporaryFile()) }))
    await store.migrate()
    expect(await store.runs.create([newRun()])).toHaveLength(1)
  })

  test('a SQLite dialect of another copy of Kysely, once its database has said so', async () => {
    const store = openStore(ofAnotherCopy(sqlite(temporaryFile()), 'SqliteAdapter'))
    await store.migrate()
    expect(await store.runs.create([newRun()])).toHaveLength(1)
  })

  test('by an explicit word', () => {
    expect(detectDialect(ofAnotherCopy(sqlite(temporaryFile()), 'b'), 'sqlite')).toEqual({ kind: 'sqlite', certain: true })
  })
})

describe('an unknown dialect is refused, with what was found and what is accepted', () => {
  test('a database that writes ? but is not SQLite', async () => {
    const database = answering(sqlite(':memory:'), () => {
      throw new Error('FUNCTION sqlite_version does not exist')
    })
    const store = openStore({ ...parts(new MysqlAdapter(), new MysqlQueryCompiler()), createDriver: () => database.createDriver() })
    const error = await rejects(store.runs.get('x'), 'unknown_dialect', 'its first use')
    expect(error.message).toMatch(/MysqlAdapter.*; accepted: a dialect whose adapter extends Kysely's SqliteAdapter/)
    await rejects(store.migrate(), 'unknown_dialect', 'its second use')
  })

  test('a word that names none', () => {
    expect(() => sqlStore({ dialect: sqlite(':memory:'), dialectKind: 'oracle' as never })).toThrow('"oracle"')
  })
})

test.each(['1runs', 'a-b', 'a b', 'x'.repeat(33), 'ä', 'A_', 'myApp_'])('the tablePrefix %j is refused', (tablePrefix) => {
  expect(() => sqlStore({ dialect: sqlite(':memory:'), tablePrefix })).toThrow(DurablyError)
})

/** What `instanceof` says of a class that was loaded twice. */
function stranger(name: string): ReturnType<Dialect['createAdapter']> {
  const adapter = new SqliteAdapter()
  const strange = class {}
  Object.defineProperty(strange, 'name', { value: name })
  return Object.assign(Object.create(strange.prototype), {
    supportsTransactionalDdl: adapter.supportsTransactionalDdl,
    supportsReturning: adapter.supportsReturning,
  })
}

function ofAnotherCopy(dialect: Dialect, name: string): Dialect {
  return { ...parts(stranger(name), new SqliteQueryCompiler()), createDriver: () => dialect.createDriver() }
}

function parts(adapter: ReturnType<Dialect['createAdapter']>, compiler: ReturnType<Dialect['createQueryCompiler']>): Dialect {
  const none = () => {
    throw new Error('not part of this test')
  }
  return { createAdapter: () => adapter, createQueryCompiler: () => compiler, createDriver: none, createIntrospector: none }
}
