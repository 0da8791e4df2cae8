// SqliteSession — one connection, used by one batch at a time.
// Owns the order of writes, the waiting for locks and the end of the connection. A transport runs the statements.
import type { CompiledQuery } from 'kysely'
import type { Env } from '../../../model/env.ts'
import { DurablyError } from '../../../model/errors.ts'
import type { BoundTransaction, QueryRunner, Row, Session, Turn } from '../shared/session.ts'
import { waitWhileBusy } from '../shared/wait-while-busy.ts'
import { writeInOrder } from '../shared/write-in-order.ts'
import { classifyError } from './classify-error.ts'
import { Turnstile } from './mutex.ts'
import { guardParameters } from './parameters.ts'
import type { Transport } from './transport/transport.ts'

export class SqliteSession implements Session {
  readonly #transport: Transport
  readonly #env: Env
  /** Q2. While a write waits for a lock, reads go on: they pass the second turnstile only. */
  readonly #writes = new Turnstile()
  readonly #connection = new Turnstile()
  readonly #prepare: () => Promise<void>
  #isPrepared = false
  #closing: Promise<void> | undefined

  /** `prepare` looks at the connection before its first use. */
  constructor(transport: Transport, env: Env, prepare: () => Promise<void>) {
    this.#transport = transport
    this.#env = env
    this.#prepare = prepare
  }

  async read(query: CompiledQuery, turn?: Turn): Promise<Row[]> {
    this.#admit()
    const guarded = guard(query)
    return this.#waiting(() => this.#transport.run(guarded), turn)
  }

  async write(queries: readonly CompiledQuery[], turn?: Turn): Promise<Row[][]> {
    this.#admit()
    const guarded = queries.map(guard)
    const [only] = guarded
    if (only === undefined) return []
    // One statement is a transaction of its own.
    const attempt = guarded.length === 1 ? async () => [await this.#transport.run(only)] : () => this.#transport.transact(guarded)
    return this.#writes.pass(() => this.#waiting(attempt, turn), turn)
  }

  async writeWithin(trx: QueryRunner, queries: readonly CompiledQuery[]): Promise<Row[][]> {
    this.#admit()
    return writeInOrder(trx, queries.map(guard), classifyError)
  }

  transact<T>(work: (trx: BoundTransaction) => Promise<T>): Promise<T> {
    this.#admit()
    return this.#writes.pass(() => this.#waiting(() => this.#transport.interact(work)))
  }

  close(): Promise<void> {
    this.#closing ??= this.#writes.pass(() => this.#connection.pass(() => this.#end()))
    return this.#closing
  }

  async #end(): Promise<void> {
    try {
      await this.#transport.close()
    } catch (thrown) {
      throw classifyError(thrown)
    }
  }

  #admit(): void {
    if (this.#closing) throw new DurablyError('store_closed', 'the store is closed')
  }

  #waiting<T>(attempt: () => Promise<T>, turn?: Turn): Promise<T> {
    return waitWhileBusy({
      env: this.#env,
      attempt: () => this.#connection.pass(() => (this.#isPrepared ? attempt() : this.#prepared(attempt)), turn),
      classify: classifyError,
      isHurried: () => this.#closing !== undefined,
    })
  }

  async #prepared<T>(attempt: () => Promise<T>): Promise<T> {
    await this.#prepare()
    this.#isPrepared = true
    return attempt()
  }
}

function guard(query: CompiledQuery): CompiledQuery {
  const parameters = guardParameters(query.parameters)
  return parameters === query.parameters ? query : { ...query, parameters }
}
