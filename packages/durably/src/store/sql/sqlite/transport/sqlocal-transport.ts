// SQLocal: SQLite in a worker of the page, on OPFS. OPFS opens a file for one connection at a time, of whichever tab.
//   L1. What we send, in every tab of the origin, passes one Web Lock per database, and so does the opening: a tab that
//       opens the file while another one writes would not get it, and SQLocal would go on in memory without an error.
//   L2. The opening and the first statement are one hold of the lock.
//   L3. One client is one connection, which user code may use as well: a transaction is sent in one piece, or inside
//       one of SQLocal's own, so that nobody's statement comes between.
import { CompiledQuery, type DatabaseConnection, type Driver } from 'kysely'
import { DurablyError } from '../../../../model/errors.ts'
import type { OpenedSql, SqlStore } from '../../open-sql.ts'
import type { Row } from '../../shared/session.ts'
import { TransactionFailed } from '../../shared/transaction.ts'
import { classifyError } from '../classify-error.ts'
import { checkRequirements } from '../requirements.ts'
import { SQLITE_TRANSACTIONS } from '../script.ts'
import { sqliteStore } from '../store.ts'
import { prepareConnection } from './prepare-connection.ts'
import { openOnOpfs } from './sqlocal-client.ts'
import { sqlocalLeadership } from './sqlocal-leadership.ts'
import { SqlocalLock } from './sqlocal-lock.ts'
import { hasSqlocalClient, type SqlocalClient } from './sqlocal-shape.ts'
import type { Transport } from './transport.ts'

export function sqlocalStore(opened: OpenedSql): SqlStore {
  const transport = sqlocalTransport(opened)
  return sqliteStore(opened, {
    transport,
    prepare: () => prepareConnection(opened, transport),
    checkRequirements,
    leadership: sqlocalLeadership(opened),
  })
}

function sqlocalTransport({ db, driver: found, env, dialect, allowMemory }: OpenedSql): Transport {
  if (!hasSqlocalClient(found)) throw new TypeError('the driver is not that of SQLocal')
  const driver: Driver & { client: SqlocalClient } = found
  const lock = new SqlocalLock(env, `durably:${driver.client.config?.databasePath}`)
  let isOpen = false
  function alone<T>(work: () => Promise<T>): Promise<T> {
    return lock.hold(async () => {
      if (!isOpen) driver.client = await openOnOpfs(driver.client, { env, allowMemory })
      isOpen = true
      return work().catch(explain)
    })
  }
  const write = (queries: readonly CompiledQuery[]) =>
    alone(() => driver.client.batch(() => queries.map(({ sql, parameters }) => ({ sql, params: parameters }))) as Promise<Row[][]>)
  // The client opens its file when it is made: the lock should be there first.
  alone(async () => {}).catch(() => {})
  return {
    run: (query) => alone(async () => (await db.getExecutor().executeQuery<Row>(query)).rows),
    write,
    async probe() {
      await write([])
    },
    transact: (work) =>
      alone(async () => {
        const connection = await driver.acquireConnection()
        await driver.beginTransaction(connection, {})
        try {
          return await work({ connection, dialect, statements: SQLITE_TRANSACTIONS })
        } finally {
          await endScope(driver, connection)
        }
      }),
    close: () => lock.hold(() => db.destroy()),
  }
}

/** SQLocal's own end is a ROLLBACK. Where there is no transaction any more, that fails and would leave the client shut for ever. */
async function endScope(driver: Driver, connection: DatabaseConnection): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw('begin')).catch(() => {})
  await driver.rollbackTransaction(connection)
}

/** The largest value that a step may return by default, its row, and the journal. */
const ROOM_BYTES = 32 * 1024 * 1024

/** When the storage is full, SQLite rolls back by itself, and SQLocal reports that its own ROLLBACK failed, or an I/O error. */
async function explain(thrown: unknown): Promise<never> {
  const error = thrown instanceof TransactionFailed ? thrown : classifyError(thrown)
  if (error instanceof DurablyError && error.code === 'store_unavailable') {
    const { usage = 0, quota = Number.POSITIVE_INFINITY } = await navigator.storage.estimate()
    if (quota - usage < ROOM_BYTES)
      throw new DurablyError('store_full', `the storage of this origin is full, ${usage} of ${quota} bytes: ${error.message}`, {
        cause: thrown,
      })
  }
  throw error
}
