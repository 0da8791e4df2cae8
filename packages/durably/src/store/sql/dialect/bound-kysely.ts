// A Kysely that speaks over one connection, inside a transaction that is ours to end.
//   D1. After the end every query is refused: one that comes late would run on its own, on a connection of somebody else.
import { type DatabaseConnection, type Dialect, type Driver, Kysely } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'

export interface BoundKysely {
  db: Kysely<unknown>
  end(): void
}

export function boundKysely(dialect: Dialect, connection: DatabaseConnection): BoundKysely {
  let isOver = false
  function admit(): void {
    if (isOver) throw new DurablyError('context_closed', 'the transaction has ended; await every query inside ctx.transaction()')
  }
  const guarded: DatabaseConnection = {
    async executeQuery(query) {
      admit()
      return connection.executeQuery(query)
    },
    async *streamQuery(query, chunkSize) {
      admit()
      yield* connection.streamQuery(query, chunkSize)
    },
  }
  const refuse = async () => {
    throw new DurablyError('invalid_argument', 'this is a transaction already; use it as it is')
  }
  const driver: Driver = {
    async init() {},
    acquireConnection: async () => guarded,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    async releaseConnection() {},
    async destroy() {},
  }
  return {
    db: new Kysely({
      dialect: {
        createDriver: () => driver,
        createQueryCompiler: () => dialect.createQueryCompiler(),
        createAdapter: () => dialect.createAdapter(),
        createIntrospector: (db) => dialect.createIntrospector(db),
      },
    }),
    end() {
      isOver = true
    },
  }
}
