// The driver of sqlite() runs a transaction within one call if it can; otherwise its statements go one by one. Both must leave the same rows.
import { CompiledQuery, type Dialect, Kysely } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { NodeSqliteDriver } from '../../src/sqlite/node-driver.ts'
import { openDatabase } from '../../src/sqlite/open-database.ts'
import { type CachingDatabase, cachingDatabase } from '../../src/sqlite/statement-cache.ts'
import { openSql } from '../../src/store/sql/open-sql.ts'
import type { Row, Session } from '../../src/store/sql/shared/session.ts'
import { transactOn } from '../../src/store/sql/shared/transact-on.ts'
import { SqliteSession } from '../../src/store/sql/sqlite/session.ts'
import { kyselyTransport } from '../../src/store/sql/sqlite/transport/kysely-transport.ts'
import type { Transport } from '../../src/store/sql/sqlite/transport/transport.ts'
import { temporaryFile } from './place.ts'

const q = CompiledQuery.raw
const INSERT = q('INSERT INTO t VALUES (?)', ['a'])
const RETURNING = q('INSERT INTO t VALUES (?) RETURNING v', ['b'])
const READ = q('SELECT v FROM t ORDER BY v')
const REFUSED = q('INSERT INTO t VALUES (NULL)')

type Write = (transport: Transport, queries: readonly CompiledQuery[]) => Promise<Row[][]>
const WAYS: [name: string, write: Write][] = [
  ['within one call', async ({ executeNow }, queries) => executeNow?.(queries) ?? []],
  ['one by one', (transport, queries) => transport.write(queries)],
]

/** As `ctx.transaction` does. */
const USERS: (typeof WAYS)[number] = [
  'of the user',
  (transport, queries) =>
    transport.transact((place) =>
      transactOn(place, undefined, async (trx) => {
        const results: Row[][] = []
        for (const query of queries) results.push(await trx.run(query))
        return results
      }),
    ),
]

describe.each(WAYS)('a transaction %s', (_, write) => {
  test('answers with the rows of each statement', async () => {
    const { transport } = await openTable()
    expect(await write(transport, [INSERT, RETURNING, READ])).toEqual([[], [{ v: 'b' }], [{ v: 'a' }, { v: 'b' }]])
  })

  test('that fails leaves nothing behind, and the next one goes on', async () => {
    const { transport } = await openTable()
    await expect(write(transport, [INSERT, REFUSED])).rejects.toThrow('NOT NULL')
    expect(await write(transport, [RETURNING, READ])).toEqual([[{ v: 'b' }], [{ v: 'b' }]])
  })

  test('undoes one that others have left open on the connection', async () => {
    const { transport, db } = await openTable()
    await db.executeQuery(q('begin'))
    await db.executeQuery(INSERT)
    expect(await write(transport, [READ, READ])).toEqual([[], []])
  })
})

describe('after others have left a transaction open on the connection', () => {
  const LEFT_OPEN = ['begin', 'savepoint s', '/* mine */ begin'].map((sql) => q(sql))

  test.each(LEFT_OPEN)('a single write is committed, and does not become part of it ($sql)', async (opening) => {
    const { session, db, witness } = await openFile()
    await db.executeQuery(opening)
    await db.executeQuery(INSERT)
    expect(await session.write([RETURNING])).toEqual([[{ v: 'b' }]])
    expect((await witness.executeQuery(READ)).rows).toEqual([{ v: 'b' }])
  })

  test.each(LEFT_OPEN)('so is one that had to wait for the connection ($sql)', async (opening) => {
    const { session, db, witness } = await openFile()
    let writing: Promise<Row[][]> | undefined
    await db.connection().execute(async (connection) => {
      await connection.executeQuery(opening)
      await connection.executeQuery(INSERT)
      writing = session.write([RETURNING])
    })
    expect(await writing).toEqual([[{ v: 'b' }]])
    expect((await witness.executeQuery(READ)).rows).toEqual([{ v: 'b' }])
  })

  test('a read does not see it', async () => {
    const { session, db } = await openFile()
    await db.executeQuery(q('begin'))
    await db.executeQuery(INSERT)
    expect(await session.read(READ)).toEqual([])
  })
})

describe.each([...WAYS, USERS])('after a rollback that failed, of a transaction %s', (_, write) => {
  test.each<[string, (session: Session) => Promise<Row[][]>]>([
    ['a single statement', (session) => session.write([RETURNING])],
    ['a transaction', (session) => session.write([RETURNING, READ])],
  ])('%s is committed, and nothing of the one that failed', async (_, next) => {
    const { transport, session, witness, rollbacks } = await openStubborn()
    rollbacks.fail = 1
    await expect(write(transport, [INSERT, REFUSED])).rejects.toThrow()
    await next(session)
    expect((await witness.executeQuery(READ)).rows).toEqual([{ v: 'b' }])
  })

  test('a read does not see what was to be undone', async () => {
    const { transport, session, rollbacks } = await openStubborn()
    rollbacks.fail = 1
    await expect(write(transport, [INSERT, REFUSED])).rejects.toThrow()
    expect(await session.read(READ)).toEqual([])
  })

  test('nothing is sent as long as the next rollbacks fail as well', async () => {
    const { transport, session, witness, rollbacks } = await openStubborn()
    rollbacks.fail = 3
    await expect(write(transport, [INSERT, REFUSED])).rejects.toThrow()
    await expect(session.write([RETURNING])).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(session.read(READ)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await session.write([RETURNING])).toEqual([[{ v: 'b' }]])
    expect((await witness.executeQuery(READ)).rows).toEqual([{ v: 'b' }])
  })
})

test('nothing is done within one call while somebody else has the connection, or waits for it', async () => {
  const { transport, session, db } = await openTable()
  const inTransaction = db.transaction().execute(async (trx) => {
    await trx.executeQuery(INSERT)
    expect(transport.executeNow?.([READ])).toBeUndefined()
    const writing = session.write([RETURNING, READ])
    await trx.executeQuery(INSERT)
    return { writing }
  })
  const waiting = db.executeQuery(READ)
  expect(transport.executeNow?.([READ])).toBeUndefined()
  const { writing } = await inTransaction
  expect((await waiting).rows).toEqual([{ v: 'a' }, { v: 'a' }])
  expect(await writing).toEqual([[{ v: 'b' }], [{ v: 'a' }, { v: 'a' }, { v: 'b' }]])
  expect(transport.executeNow?.([READ])).toHaveLength(1)
})

test('a write that meets a lock waits for it, and a later write does not overtake it', async () => {
  const file = temporaryFile()
  const { session } = await openTable(sqlite(file, { busyTimeoutMs: 1 }))
  const other = new Kysely<unknown>({ dialect: sqlite(file) })
  onTestFinished(() => other.destroy())
  await other.executeQuery(q('begin immediate'))
  const written: string[] = []
  const writing = (['x', 'y'] as const).map((v) => session.write([q('INSERT INTO t VALUES (?)', [v]), READ]).then(() => written.push(v)))
  // Reads go on meanwhile.
  expect(await session.read(READ)).toEqual([])
  await other.executeQuery(q('commit'))
  await Promise.all(writing)
  expect(written).toEqual(['x', 'y'])
})

test('after the end of the store nothing is executed', async () => {
  const { transport, session } = await openTable()
  await session.close()
  expect(transport.executeNow?.([READ])).toBeUndefined()
})

async function openTable(dialect: Dialect = sqlite(':memory:')): Promise<{ transport: Transport; session: Session; db: Kysely<unknown> }> {
  const opened = openSql({ dialect })
  const transport = kyselyTransport(opened)
  const session = new SqliteSession(transport, opened.env)
  onTestFinished(() => session.close())
  await session.write([q('CREATE TABLE t (v TEXT NOT NULL)')])
  return { transport, session, db: opened.db as unknown as Kysely<unknown> }
}

/** A table in a file, and another connection, which sees only what is committed. */
async function openFile() {
  const file = temporaryFile()
  const witness = new Kysely<unknown>({ dialect: sqlite(file) })
  onTestFinished(() => witness.destroy())
  return { ...(await openTable(sqlite(file))), witness }
}

/** A table in a file whose first connection fails to roll back as often as it is told to; the transaction stays open then. */
async function openStubborn() {
  const rollbacks = { fail: 0 }
  const file = temporaryFile()
  const inner = sqlite(file, { busyTimeoutMs: 1 })
  const dialect: Dialect = {
    createDriver: () =>
      new NodeSqliteDriver(async () =>
        stubborn(cachingDatabase(await openDatabase(file, { synchronous: 'NORMAL', busyTimeoutMs: 1 })), rollbacks),
      ),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createAdapter: () => inner.createAdapter(),
    createIntrospector: (db) => inner.createIntrospector(db),
  }
  const witness = new Kysely<unknown>({ dialect: sqlite(file) })
  onTestFinished(() => witness.destroy())
  return { ...(await openTable(dialect)), witness, rollbacks }
}

function stubborn(database: CachingDatabase, rollbacks: { fail: number }): CachingDatabase {
  return {
    get inTransaction() {
      return database.inTransaction
    },
    close: () => database.close(),
    prepare(sql) {
      if (sql === 'rollback' && rollbacks.fail-- > 0) throw new Error('disk I/O error')
      return database.prepare(sql)
    },
  }
}
