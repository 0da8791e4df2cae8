// A transaction of Kysely over one connection, which is ours to end.
//   D1. After the end every query is refused: one that comes late would run on its own, on a connection of somebody else.
//   D2. So is a statement that would end it: what came after would not be part of it, and the step's record neither.
//   D3. A query waits for the one before it: where that one failed, the transaction may be gone, and what came after would commit on its own.
import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely, Transaction } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import { type Script, transactionWord } from './transaction-word.ts'

export interface BoundKysely {
  db: Transaction<unknown>
  end(): void
  /** It is the error of the last query that failed, not one of the user's own. */
  hasThrown(error: unknown): boolean
}

/** It was undone in the middle, and what comes after that would not be part of it. */
export class EndedByItself extends Error {
  constructor(cause: unknown) {
    super('the database has undone the transaction by itself; an error of a query inside it was caught, let it pass instead', { cause })
  }
}

/** `probe` passes only where the transaction is gone. */
export function boundKysely(dialect: Dialect, connection: DatabaseConnection, script: Script, probe?: CompiledQuery): BoundKysely {
  let over: Error | undefined
  let failure: unknown
  let isDoubtful = false
  let turn: Promise<unknown> = Promise.resolve()
  /** D3. */
  async function settle(): Promise<void> {
    if (!isDoubtful || over || !probe) return
    isDoubtful = false
    try {
      await connection.executeQuery(probe)
    } catch {
      return
    }
    over ??= new EndedByItself(failure)
  }
  /** The query is sent at once then: nothing comes between. */
  function admit({ sql }: CompiledQuery): void {
    const word = transactionWord(sql, script)
    if (word)
      throw new DurablyError(
        'transaction_open',
        `${word} was sent inside ctx.transaction; leave it out: it commits when its function returns, and is undone when it throws`,
      )
    if (over) throw over
  }
  function fail(error: unknown): never {
    isDoubtful = true
    failure = error
    throw error
  }
  const guarded: DatabaseConnection = {
    executeQuery<R>(query: CompiledQuery) {
      const answer = turn.then(settle).then(async () => {
        admit(query)
        try {
          return await connection.executeQuery<R>(query)
        } catch (error) {
          return fail(error)
        }
      })
      turn = answer.catch(() => {})
      return answer
    },
    async *streamQuery<R>(query: CompiledQuery, chunkSize?: number) {
      await settle()
      admit(query)
      try {
        yield* connection.streamQuery<R>(query, chunkSize)
      } catch (error) {
        fail(error)
      }
    },
  }
  return {
    db: transactionOver(dialect, guarded),
    end() {
      over ??= new DurablyError('context_closed', 'the transaction has ended; await every query inside ctx.transaction()')
    },
    hasThrown: (error) => error === failure,
  }
}

function transactionOver(dialect: Dialect, connection: DatabaseConnection): Transaction<unknown> {
  const refuse = () => {
    throw new DurablyError('invalid_argument', 'this is a transaction already; use it as it is')
  }
  const driver: Driver = {
    async init() {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    async releaseConnection() {},
    async destroy() {},
  }
  const bound: Dialect = {
    createDriver: () => driver,
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
  const config = { dialect: bound }
  const trx = new Transaction<unknown>({ config, driver, dialect: bound, executor: new Kysely(config).getExecutor() })
  // Kysely's own error does not say what to do.
  trx.transaction = refuse
  return trx
}
