// Any SQLite dialect of Kysely. Its own transactions begin deferred, which fails at once with BUSY_SNAPSHOT when another
// connection wrote in between; ours take the write lock first.
import { CompiledQuery, type Dialect, type Kysely } from 'kysely'
import { isBatching } from '../../shared/batching-connection.ts'
import type { DurablyTables } from '../../shared/schema.ts'
import type { Row } from '../../shared/session.ts'
import { interact, type TransactionWords, transact } from '../../shared/transaction.ts'
import { SQLITE_SCRIPT } from '../script.ts'
import type { Transport } from './transport.ts'

const BEGIN = CompiledQuery.raw('begin')
export const WORDS: TransactionWords = {
  begin: CompiledQuery.raw('begin immediate'),
  commit: CompiledQuery.raw('commit'),
  rollback: CompiledQuery.raw('rollback'),
  script: SQLITE_SCRIPT,
  watch: {
    begin: CompiledQuery.raw('savepoint durably_transaction'),
    end: CompiledQuery.raw('release durably_transaction'),
    probe: BEGIN,
  },
}
const WITHOUT_LOCK: TransactionWords = { ...WORDS, begin: BEGIN }

export function kyselyTransport(db: Kysely<DurablyTables>, dialect: Dialect): Transport {
  const executor = db.getExecutor()
  return {
    async run(query) {
      const { rows } = await executor.executeQuery<Row>(query)
      return rows
    },
    transact: (queries) =>
      executor.provideConnection((connection) =>
        isBatching(connection) ? connection.transact(queries) : transact(connection, WORDS, queries),
      ),
    async transactNothing() {
      await executor.provideConnection((connection) => transact(connection, WITHOUT_LOCK, []))
    },
    interact: (work) => executor.provideConnection((connection) => interact(connection, dialect, WORDS, work)),
    close: () => db.destroy(),
  }
}
