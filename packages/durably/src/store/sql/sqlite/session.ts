// SqliteSession — one connection, used by one batch at a time.
// It puts writes in order, waits for locks of other processes and closes the connection. A transport runs the statements.
import type { CompiledQuery } from 'kysely'
import type { Env } from '../../../model/env.ts'
import { DurablyError } from '../../../model/errors.ts'
import { userTransactions } from '../shared/lazy-user-transactions.ts'
import type { Priority, ReservedConnection, Row, Session } from '../shared/session.ts'
import { waitWhileBusy } from '../shared/wait-while-busy.ts'
import { classifyError } from './classify-error.ts'
import { withCheckedParameters } from './parameters.ts'
import { Mutex } from './transport/mutex.ts'
import type { Transport } from './transport/transport.ts'

export class SqliteSession implements Session {
  readonly #transport: Transport
  readonly #env: Env
  /**
   * A write holds the first mutex until it is done, so that no later write overtakes it (Q2), and the second only during each attempt:
   * between two attempts, while a write waits for a lock of another process, reads go on.
   */
  readonly #writes = new Mutex()
  readonly #connection = new Mutex()
  /** Called before the first use of the connection; if it fails, the next use calls it again. */
  #prepare: (() => Promise<void>) | undefined
  #closing: Promise<void> | undefined

  constructor(transport: Transport, env: Env, prepare?: () => Promise<void>) {
    this.#transport = transport
    this.#env = env
    this.#prepare = prepare
  }

  async read(query: CompiledQuery, priority?: Priority): Promise<Row[]> {
    this.#refuseIfClosed()
    const checked = withCheckedParameters(query)
    const [rows] = this.#atOnce([checked], !this.#connection.isTaken) ?? []
    return rows ?? this.#retryWhileBusy(() => this.#transport.run(checked), priority)
  }

  async write(queries: readonly CompiledQuery[], priority?: Priority): Promise<Row[][]> {
    this.#refuseIfClosed()
    const batch = queries.map(withCheckedParameters)
    const [only] = batch
    if (only === undefined) return []
    const results = this.#atOnce(batch, !this.#writes.isTaken && !this.#connection.isTaken)
    if (results) return results
    // One statement is a transaction of its own.
    const attempt = batch.length === 1 ? async () => [await this.#transport.run(only)] : () => this.#transport.write(batch)
    return this.#writes.run(() => this.#retryWhileBusy(attempt, priority), priority)
  }

  async writeWithin(trx: unknown, queries: readonly CompiledQuery[]): Promise<Row[][]> {
    this.#refuseIfClosed()
    const { writeWithin } = await userTransactions(this.#env)
    return writeWithin(trx, queries.map(withCheckedParameters), classifyError)
  }

  async transact<T>(work: (reserved: ReservedConnection) => Promise<T>): Promise<T> {
    this.#refuseIfClosed()
    return this.#writes.run(() => this.#retryWhileBusy(() => this.#transport.transact(work)))
  }

  async close(): Promise<void> {
    // Runs that were created in this turn are sent before by grouped-create.ts.
    await null
    this.#closing ??= this.#writes.run(() => this.#connection.run(() => this.#end()))
    return this.#closing
  }

  async #end(): Promise<void> {
    try {
      await this.#transport.close()
    } catch (thrown) {
      throw classifyError(thrown)
    }
  }

  #refuseIfClosed(): void {
    if (this.#closing) throw new DurablyError('store_closed', 'the store is closed')
  }

  /**
   * Runs the batch within this call, if the driver can do that and the connection is free. Returns undefined if the caller has to wait: for the
   * connection, or for a lock of another process.
   */
  #atOnce(batch: readonly CompiledQuery[], isFree: boolean): Row[][] | undefined {
    if (!isFree || this.#prepare) return undefined
    try {
      return this.#transport.executeNow?.(batch)
    } catch (thrown) {
      const error = classifyError(thrown)
      if (error.code !== 'store_busy') throw error
    }
  }

  #retryWhileBusy<T>(attempt: () => Promise<T>, priority?: Priority): Promise<T> {
    return waitWhileBusy({
      env: this.#env,
      attempt: () => this.#connection.run(() => (this.#prepare ? this.#prepared(this.#prepare, attempt) : attempt()), priority),
      classify: classifyError,
      isClosing: () => this.#closing !== undefined,
    })
  }

  async #prepared<T>(prepare: () => Promise<void>, attempt: () => Promise<T>): Promise<T> {
    await prepare()
    this.#prepare = undefined
    return attempt()
  }
}
