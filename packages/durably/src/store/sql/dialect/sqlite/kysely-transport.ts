// Any SQLite dialect of Kysely. Its own transactions begin deferred, which fails at once with BUSY_SNAPSHOT when another
// connection wrote in between; ours take the write lock first.
import { CompiledQuery, type DatabaseConnection, type Dialect, type Kysely } from 'kysely'
import type { DurablyTables } from '../../schema.ts'
import type { Row } from '../../session.ts'
import { interact } from '../interact.ts'
import type { Transport } from './transport.ts'

const BEGIN = CompiledQuery.raw('begin immediate')
const BEGIN_WITHOUT_LOCK = CompiledQuery.raw('begin')
const COMMIT = CompiledQuery.raw('commit')
const ROLLBACK = CompiledQuery.raw('rollback')

export function kyselyTransport(db: Kysely<DurablyTables>, dialect: Dialect): Transport {
  const executor = db.getExecutor()
  return {
    async run(query) {
      const { rows } = await executor.executeQuery<Row>(query)
      return rows
    },
    transact: (queries) => executor.provideConnection((connection) => transact(connection, BEGIN, queries)),
    async transactNothing() {
      await executor.provideConnection((connection) => transact(connection, BEGIN_WITHOUT_LOCK, []))
    },
    interact: (work) =>
      executor.provideConnection((connection) => interact(connection, dialect, { begin: BEGIN, commit: COMMIT, rollback: ROLLBACK }, work)),
    close: () => db.destroy(),
  }
}

async function transact(connection: DatabaseConnection, begin: CompiledQuery, queries: readonly CompiledQuery[]): Promise<Row[][]> {
  await start(connection, begin)
  try {
    const results: Row[][] = []
    for (const query of queries) results.push((await connection.executeQuery<Row>(query)).rows)
    await connection.executeQuery(COMMIT)
    return results
  } catch (error) {
    await rollback(connection)
    throw error
  }
}

async function start(connection: DatabaseConnection, begin: CompiledQuery): Promise<void> {
  try {
    await connection.executeQuery(begin)
  } catch (error) {
    if (!String(error).includes('within a transaction')) throw error
    // A rollback that failed has left its transaction open, and nobody else shares this connection.
    await connection.executeQuery(ROLLBACK)
    await connection.executeQuery(begin)
  }
}

async function rollback(connection: DatabaseConnection): Promise<void> {
  try {
    await connection.executeQuery(ROLLBACK)
  } catch {
    // After a full disk or an I/O error SQLite has already rolled back; the first error is the one to tell.
  }
}
