// The driver of sqlite() runs a transaction within one call if it can; otherwise its statements go one by one. Both must leave the same rows.
import { CompiledQuery, Kysely } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { openSql } from '../../src/store/sql/open-sql.ts'
import type { Row, Session } from '../../src/store/sql/shared/session.ts'
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

  test('undoes one that a failed rollback has left open', async () => {
    const { transport, db } = await openTable()
    await db.executeQuery(q('begin'))
    await db.executeQuery(INSERT)
    expect(await write(transport, [READ, READ])).toEqual([[], []])
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
  const { session } = await openTable(file)
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

async function openTable(file = ':memory:'): Promise<{ transport: Transport; session: Session; db: Kysely<unknown> }> {
  const opened = openSql({ dialect: sqlite(file, { busyTimeoutMs: 1 }) })
  const transport = kyselyTransport(opened)
  const session = new SqliteSession(transport, opened.env)
  onTestFinished(() => session.close())
  await session.write([q('CREATE TABLE t (v TEXT NOT NULL)')])
  return { transport, session, db: opened.db as unknown as Kysely<unknown> }
}
