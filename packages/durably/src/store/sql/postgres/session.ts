// PostgresSession — the connections of a Kysely dialect; each call takes one of them and gives it back.
// Owns the transactions, the waiting for conflicts that pass, and the end of the pool.
// Several calls are under way at once, so Q2 is kept by who asks: an owner waits for the answer to each of its writes.
import { CompiledQuery, type DatabaseConnection, type Dialect, type Kysely } from 'kysely'
import type { Env } from '../../../model/env.ts'
import { DurablyError } from '../../../model/errors.ts'
import type { DurablyTables } from '../shared/schema.ts'
import type { BoundTransaction, QueryRunner, Row, Session, Turn } from '../shared/session.ts'
import { interact, type TransactionWords, transact } from '../shared/transaction.ts'
import { waitWhileBusy } from '../shared/wait-while-busy.ts'
import { writeInOrder } from '../shared/write-in-order.ts'
import { classifyError } from './classify-error.ts'
import { storable } from './parameters.ts'
import { POSTGRES_SCRIPT } from './script.ts'

const WORDS: TransactionWords = {
  begin: CompiledQuery.raw('begin'),
  commit: CompiledQuery.raw('commit'),
  rollback: CompiledQuery.raw('rollback'),
  script: POSTGRES_SCRIPT,
}

interface PostgresSessionParts {
  db: Kysely<DurablyTables>
  /** For what must not wait behind others. */
  urgent: Kysely<DurablyTables>
  dialect: Dialect
  env: Env
}

export class PostgresSession implements Session {
  readonly #parts: PostgresSessionParts
  readonly #prepare: () => Promise<void>
  readonly #underWay = new Set<Promise<unknown>>()
  #prepared: Promise<void> | undefined
  #closing: Promise<void> | undefined

  /** `prepare` looks at the database before its first use. */
  constructor(parts: PostgresSessionParts, prepare: () => Promise<void>) {
    this.#parts = parts
    this.#prepare = prepare
  }

  async read(query: CompiledQuery, turn?: Turn): Promise<Row[]> {
    const guarded = storable(query)
    return this.#call(() => this.#run(guarded, turn))
  }

  async write(queries: readonly CompiledQuery[], turn?: Turn): Promise<Row[][]> {
    const guarded = queries.map(storable)
    const [only] = guarded
    if (only === undefined) return []
    // One statement is a transaction of its own, and one round trip.
    return this.#call(
      guarded.length === 1
        ? async () => [await this.#run(only, turn)]
        : () => this.#onOne((connection) => transact(connection, WORDS, guarded), turn),
    )
  }

  async writeWithin(trx: QueryRunner, queries: readonly CompiledQuery[]): Promise<Row[][]> {
    await this.#ready()
    return writeInOrder(trx, queries.map(storable), classifyError)
  }

  transact<T>(work: (trx: BoundTransaction) => Promise<T>): Promise<T> {
    return this.#call(() => this.#onOne((connection) => interact(connection, this.#parts.dialect, WORDS, work)))
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    await Promise.allSettled(this.#underWay)
    try {
      await this.#parts.db.destroy()
    } catch (thrown) {
      throw classifyError(thrown)
    }
  }

  async #call<T>(act: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new DurablyError('store_closed', 'the store is closed')
    const call = waitWhileBusy({
      env: this.#parts.env,
      attempt: async () => {
        await this.#ready()
        return act()
      },
      classify: classifyError,
      isHurried: () => this.#closing !== undefined,
    })
    this.#underWay.add(call)
    try {
      return await call
    } finally {
      this.#underWay.delete(call)
    }
  }

  /** Once; a look that failed is tried again by the next call. */
  #ready(): Promise<void> {
    this.#prepared ??= this.#prepare().catch((thrown) => {
      this.#prepared = undefined
      throw thrown
    })
    return this.#prepared
  }

  #kysely(turn: Turn | undefined): Kysely<DurablyTables> {
    return turn === 'first' ? this.#parts.urgent : this.#parts.db
  }

  async #run(query: CompiledQuery, turn?: Turn): Promise<Row[]> {
    const { rows } = await this.#kysely(turn).executeQuery(query)
    return rows as Row[]
  }

  #onOne<T>(use: (connection: DatabaseConnection) => Promise<T>, turn?: Turn): Promise<T> {
    return this.#kysely(turn).getExecutor().provideConnection(use)
  }
}
