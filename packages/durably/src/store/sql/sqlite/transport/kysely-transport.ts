// kyselyTransport — for any SQLite dialect of Kysely. Kysely's own transactions take the write lock with their first write, and fail at
// once with BUSY_SNAPSHOT if another connection wrote in between. Ours take it when they begin.
//   Y1. After a rollback that failed, nothing is sent until a rollback has succeeded. Otherwise a single statement would become part of
//       the transaction that is still open: it would be answered as done, and undone later. The same is done if the driver says that
//       somebody else has left a transaction open. Only that of `sqlite()`, sqlite/node-driver.ts, can say so; with any other `begin` fails
//       and shows it.
import { CompiledQuery, type DatabaseConnection } from 'kysely'
import type { OpenedSql } from '../../open-sql.ts'
import { isBatchingConnection } from '../../shared/batching-connection.ts'
import type { Row } from '../../shared/session.ts'
import { rollBackAgain, type TransactionStatements, writeOn } from '../../shared/transaction.ts'
import { SQLITE_TRANSACTIONS } from '../script.ts'
import { isSynchronous } from './synchronous-driver.ts'
import type { Transport } from './transport.ts'

export function kyselyTransport({ db, driver, dialect }: Pick<OpenedSql, 'db' | 'driver' | 'dialect'>): Transport {
  const executor = db.getExecutor()
  const synchronous = isSynchronous(driver) ? driver : undefined
  let mayBeOpen = false
  const onFailedRollback = () => {
    mayBeOpen = true
  }
  const statements: TransactionStatements = { ...SQLITE_TRANSACTIONS, onFailedRollback }
  /** A transaction that takes no lock before its first statement. */
  const deferred: TransactionStatements = { ...statements, begin: CompiledQuery.raw('begin') }
  /** Y1. */
  const onConnection = <T>(work: (connection: DatabaseConnection) => Promise<T>): Promise<T> =>
    executor.provideConnection(async (connection) => {
      if (mayBeOpen || synchronous?.inTransaction) await rollBackAgain(connection, statements)
      mayBeOpen = false
      return work(connection)
    })
  return {
    ...(synchronous && { executeNow: (queries) => (mayBeOpen ? undefined : synchronous.executeNow(queries, onFailedRollback)) }),
    async run(query) {
      const { rows } = await onConnection((connection) => connection.executeQuery<Row>(query))
      return rows
    },
    write: (queries) =>
      onConnection((connection) =>
        isBatchingConnection(connection) ? connection.writeBatch(queries) : writeOn(connection, statements, queries),
      ),
    async probe() {
      await onConnection((connection) => writeOn(connection, deferred, []))
    },
    transact: (work) => onConnection((connection) => work({ connection, dialect, statements })),
    close: () => db.destroy(),
  }
}
