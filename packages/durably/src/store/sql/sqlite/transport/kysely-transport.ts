// kyselyTransport — for any SQLite dialect of Kysely. Kysely's own transactions take the write lock with their first write, and fail at
// once with BUSY_SNAPSHOT if another connection wrote in between. Ours take it when they begin.
import { CompiledQuery } from 'kysely'
import type { OpenedSql } from '../../open-sql.ts'
import { isBatching } from '../../shared/batching-connection.ts'
import type { Row } from '../../shared/session.ts'
import { type TransactionWords, writeOn } from '../../shared/transaction.ts'
import { SQLITE_WORDS } from '../script.ts'
import { isSynchronous } from './synchronous-driver.ts'
import type { Transport } from './transport.ts'

/** A transaction that takes no lock before its first statement. */
const DEFERRED: TransactionWords = { ...SQLITE_WORDS, begin: CompiledQuery.raw('begin') }

export function kyselyTransport({ db, driver, dialect }: Pick<OpenedSql, 'db' | 'driver' | 'dialect'>): Transport {
  const executor = db.getExecutor()
  return {
    ...(isSynchronous(driver) && { executeNow: (queries) => driver.executeNow(queries) }),
    async run(query) {
      const { rows } = await executor.executeQuery<Row>(query)
      return rows
    },
    write: (queries) =>
      executor.provideConnection((connection) =>
        isBatching(connection) ? connection.writeBatch(queries) : writeOn(connection, SQLITE_WORDS, queries),
      ),
    async writeNothing() {
      await executor.provideConnection((connection) => writeOn(connection, DEFERRED, []))
    },
    transact: (work) => executor.provideConnection((connection) => work({ connection, dialect, words: SQLITE_WORDS })),
    close: () => db.destroy(),
  }
}
