// A Kysely that speaks over one connection, inside a transaction that is ours to end.
//   D1. After the end every query is refused: one that comes late would run on its own, on a connection of somebody else.
//   D2. So is a statement that would end it: what came after would not be part of it, and the step's record neither.
import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'

/** After comments; a rollback to a savepoint ends nothing. */
const ENDS = /^(?:\s|;|--.*|\/\*[\s\S]*?\*\/)*(begin|start\s+transaction|commit|end|abort|rollback(?![^;]*\sto\s))\b/i

export interface BoundKysely {
  db: Kysely<unknown>
  end(): void
  /** It is an error of a query, not one of the user's own. */
  hasThrown(error: unknown): boolean
}

export function boundKysely(dialect: Dialect, connection: DatabaseConnection): BoundKysely {
  let isOver = false
  const thrown = new Set<unknown>()
  function admit({ sql }: CompiledQuery): void {
    const word = ENDS.exec(sql)?.[1]
    if (word)
      throw new DurablyError(
        'transaction_open',
        `${word} cannot be sent inside ctx.transaction: it commits when its function returns, and is undone when it throws`,
      )
    if (isOver) throw new DurablyError('context_closed', 'the transaction has ended; await every query inside ctx.transaction()')
  }
  const guarded: DatabaseConnection = {
    async executeQuery(query) {
      admit(query)
      try {
        return await connection.executeQuery(query)
      } catch (error) {
        thrown.add(error)
        throw error
      }
    },
    async *streamQuery(query, chunkSize) {
      admit(query)
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
    hasThrown: (error) => thrown.has(error),
  }
}
