// The connection of sqlite() runs a batch by itself; other drivers get its statements one by one. Both must leave the same rows.
import { CompiledQuery, Kysely } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { type BatchingConnection, isBatching } from '../../src/store/sql/shared/batching-connection.ts'
import type { Row } from '../../src/store/sql/shared/session.ts'
import { writeOn } from '../../src/store/sql/shared/transaction.ts'
import { SQLITE_WORDS } from '../../src/store/sql/sqlite/script.ts'

const q = CompiledQuery.raw
const INSERT = q('INSERT INTO t VALUES (?)', ['a'])
const RETURNING = q('INSERT INTO t VALUES (?) RETURNING v', ['b'])
const READ = q('SELECT v FROM t ORDER BY v')
const REFUSED = q('INSERT INTO t VALUES (NULL)')

type Write = (connection: BatchingConnection, queries: readonly CompiledQuery[]) => Promise<Row[][]>
const WAYS: [name: string, write: Write][] = [
  ['as a batch', (connection, queries) => connection.writeBatch(queries)],
  ['one by one', (connection, queries) => writeOn(connection, SQLITE_WORDS, queries)],
]

describe.each(WAYS)('a transaction %s', (_, write) => {
  test('answers with the rows of each statement', async () => {
    expect(await onConnection((connection) => write(connection, [INSERT, RETURNING, READ]))).toEqual([
      [],
      [{ v: 'b' }],
      [{ v: 'a' }, { v: 'b' }],
    ])
  })

  test('that fails leaves nothing behind, and the next one goes on', async () => {
    await onConnection(async (connection) => {
      await expect(write(connection, [INSERT, REFUSED])).rejects.toThrow('NOT NULL')
      expect(await write(connection, [RETURNING, READ])).toEqual([[{ v: 'b' }], [{ v: 'b' }]])
    })
  })

  test('undoes one that a failed rollback has left open', async () => {
    await onConnection(async (connection) => {
      await connection.executeQuery(q('begin'))
      await connection.executeQuery(INSERT)
      expect(await write(connection, [READ])).toEqual([[]])
    })
  })
})

async function onConnection<T>(use: (connection: BatchingConnection) => Promise<T>): Promise<T> {
  const db = new Kysely<unknown>({ dialect: sqlite(':memory:') })
  onTestFinished(() => db.destroy())
  return db.getExecutor().provideConnection(async (connection) => {
    if (!isBatching(connection)) throw new TypeError('the connection of sqlite() runs no batches')
    await connection.executeQuery(q('CREATE TABLE t (v TEXT NOT NULL)'))
    return use(connection)
  })
}
