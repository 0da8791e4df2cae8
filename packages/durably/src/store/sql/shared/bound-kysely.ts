// A transaction of Kysely over one connection, which is ours to end.
//   D1. After the end every query is refused: a late one would run outside of the transaction, on a connection that others use by then.
//   D2. A statement that would end the transaction is refused: later statements and the step's record would not be part of it.
//   D3. A query waits for the one before it: if that one failed, the transaction may be gone, and later queries would commit by themselves.
import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely, Transaction } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import { type Script, transactionWord } from './transaction-word.ts'

export interface BoundKysely {
  db: Transaction<unknown>
  end(): void
  /** Whether it is the error of the last query that failed, and not one of the user's own. */
  hasThrown(error: unknown): boolean
}

/** The database rolled the transaction back in the middle, so later statements would not be part of it. */
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
  let previous: Promise<unknown> = Promise.resolve()
  /** After a query that failed: finds out whether the transaction is still there (D3). */
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
  /** Called right before a query is sent, so that nothing can happen in between. */
  function refuseUnlessAllowed({ sql }: CompiledQuery): void {
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
      const answer = previous.then(settle).then(async () => {
        refuseUnlessAllowed(query)
        try {
          return await connection.executeQuery<R>(query)
        } catch (error) {
          return fail(error)
        }
      })
      previous = answer.catch(() => {})
      return answer
    },
    async *streamQuery<R>(query: CompiledQuery, chunkSize?: number) {
      await settle()
      refuseUnlessAllowed(query)
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
