// PostgresSession — the connections of a Kysely dialect; each call takes one of them and gives it back.
// Owns the transactions, the waiting for conflicts that pass, and the end of the pool.
// Several calls are under way at once, so Q2 is kept by the callers: an owner waits for the answer to each of its writes.
import type { CompiledQuery, DatabaseConnection, Dialect, Kysely } from 'kysely'
import type { Env } from '../../../model/env.ts'
import { DurablyError } from '../../../model/errors.ts'
import type { OpenedSql } from '../open-sql.ts'
import { userTransactions } from '../shared/lazy-user-transactions.ts'
import type { DurablyTables } from '../shared/schema.ts'
import type { Priority, ReservedConnection, Row, Session } from '../shared/session.ts'
import { writeOn } from '../shared/transaction.ts'
import { waitWhileBusy } from '../shared/wait-while-busy.ts'
import { classifyError } from './classify-error.ts'
import { withCheckedParameters } from './parameters.ts'
import { confirm } from './requirements.ts'
import { POSTGRES_TRANSACTIONS } from './script.ts'
import { urgentKysely } from './transport/urgent-kysely.ts'

interface PostgresSessionDeps {
  db: Kysely<DurablyTables>
  /** For what must not wait behind others. */
  urgent: Kysely<DurablyTables>
  dialect: Dialect
  env: Env
}

export function openSession(opened: OpenedSql): Session {
  const { db, dialect, env, detected } = opened
  return new PostgresSession({ db, urgent: urgentKysely(opened), dialect, env }, async () => {
    if (!detected.certain) await confirm(db, dialect)
  })
}

class PostgresSession implements Session {
  readonly #deps: PostgresSessionDeps
  readonly #prepare: () => Promise<void>
  readonly #underWay = new Set<Promise<unknown>>()
  #prepared: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #isClosed = false

  /** `prepare` is called before the first use of the database. */
  constructor(deps: PostgresSessionDeps, prepare: () => Promise<void>) {
    this.#deps = deps
    this.#prepare = prepare
  }

  async read(query: CompiledQuery, priority?: Priority): Promise<Row[]> {
    const checked = withCheckedParameters(query)
    return this.#call(() => this.#run(checked, priority))
  }

  async write(queries: readonly CompiledQuery[], priority?: Priority): Promise<Row[][]> {
    const batch = queries.map(withCheckedParameters)
    const [only] = batch
    if (only === undefined) return []
    // One statement is a transaction of its own, and one round trip.
    return this.#call(
      batch.length === 1
        ? async () => [await this.#run(only, priority)]
        : () => this.#onOne((connection) => writeOn(connection, POSTGRES_TRANSACTIONS, batch), priority),
    )
  }

  async writeWithin(trx: unknown, queries: readonly CompiledQuery[]): Promise<Row[][]> {
    await this.#ready()
    const { writeWithin } = await userTransactions(this.#deps.env)
    return writeWithin(trx, queries.map(withCheckedParameters), classifyError)
  }

  transact<T>(work: (reserved: ReservedConnection) => Promise<T>): Promise<T> {
    return this.#call(() =>
      this.#onOne((connection) => work({ connection, dialect: this.#deps.dialect, statements: POSTGRES_TRANSACTIONS })),
    )
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    // Runs that were created in this turn are sent before by grouped-create.ts.
    await null
    this.#isClosed = true
    await Promise.allSettled(this.#underWay)
    try {
      await this.#deps.db.destroy()
    } catch (thrown) {
      throw classifyError(thrown)
    }
  }

  async #call<T>(act: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new DurablyError('store_closed', 'the store is closed')
    const call = waitWhileBusy({
      env: this.#deps.env,
      attempt: async () => {
        await this.#ready()
        return act()
      },
      classify: classifyError,
      isClosing: () => this.#closing !== undefined,
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

  #kysely(priority: Priority | undefined): Kysely<DurablyTables> {
    return priority === 'urgent' ? this.#deps.urgent : this.#deps.db
  }

  async #run(query: CompiledQuery, priority?: Priority): Promise<Row[]> {
    const { rows } = await this.#kysely(priority).executeQuery(query)
    return rows as Row[]
  }

  #onOne<T>(use: (connection: DatabaseConnection) => Promise<T>, priority?: Priority): Promise<T> {
    return this.#kysely(priority).getExecutor().provideConnection(use)
  }
}
