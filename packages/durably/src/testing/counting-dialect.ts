// CountingDialect — records what a store really sends: every statement, and every commit that it causes.
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult, TransactionSettings } from 'kysely'

export interface CountingDialect extends Dialect {
  /** Every statement in its order, `begin` and `commit` included. */
  readonly statements: readonly string[]
  /** Transactions that may have written: each `commit`, and each writing statement outside of a transaction. */
  readonly commits: number
  readonly selects: number
  reset(): void
}

export function countingDialect(dialect: Dialect): CountingDialect {
  const counter = new Counter()
  return {
    createDriver: () => new CountingDriver(dialect.createDriver(), counter),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    get statements() {
      return counter.statements
    },
    get commits() {
      return counter.commits
    },
    get selects() {
      return counter.statements.filter((sql) => READS.test(sql)).length
    },
    reset: () => counter.reset(),
  }
}

const READS = /^\s*(select|with|values|explain)\b/i
const SETTINGS = /^\s*(pragma|savepoint|release)\b/i

class Counter {
  statements: string[] = []
  commits = 0
  #inTransaction = false

  count(sql: string): void {
    this.statements.push(sql)
    if (/^\s*begin\b/i.test(sql)) this.#inTransaction = true
    else if (/^\s*rollback\b/i.test(sql)) this.#inTransaction = false
    else if (/^\s*commit\b/i.test(sql)) {
      this.#inTransaction = false
      this.commits += 1
    } else if (!this.#inTransaction && !READS.test(sql) && !SETTINGS.test(sql)) this.commits += 1
  }

  reset(): void {
    this.statements = []
    this.commits = 0
  }
}

class CountingDriver implements Driver {
  readonly #inner: Driver
  readonly #counter: Counter
  readonly #connections = new WeakMap<DatabaseConnection, CountingConnection>()
  /** libSQL's client, where the driver has one: the store sends its batches past the connections. */
  readonly client: unknown

  constructor(inner: Driver, counter: Counter) {
    this.#inner = inner
    this.#counter = counter
    this.client = countingClient(Reflect.get(inner, 'client'), counter)
  }

  init(): Promise<void> {
    return this.#inner.init()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const inner = await this.#inner.acquireConnection()
    const connection = this.#connections.get(inner) ?? new CountingConnection(inner, this.#counter)
    this.#connections.set(inner, connection)
    return connection
  }

  beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    this.#counter.count('begin')
    return this.#inner.beginTransaction(innerOf(connection), settings)
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#counter.count('commit')
    return this.#inner.commitTransaction(innerOf(connection))
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.#counter.count('rollback')
    return this.#inner.rollbackTransaction(innerOf(connection))
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#inner.releaseConnection(innerOf(connection))
  }

  destroy(): Promise<void> {
    return this.#inner.destroy()
  }
}

class CountingConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection
  readonly #counter: Counter

  constructor(inner: DatabaseConnection, counter: Counter) {
    this.inner = inner
    this.#counter = counter
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#counter.count(query.sql)
    return this.inner.executeQuery<R>(query)
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    this.#counter.count(query.sql)
    return this.inner.streamQuery<R>(query, chunkSize)
  }
}

function innerOf(connection: DatabaseConnection): DatabaseConnection {
  return connection instanceof CountingConnection ? connection.inner : connection
}

function countingClient(client: unknown, counter: Counter): unknown {
  if (typeof client !== 'object' || client === null) return undefined
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (name === 'batch') countBatch(args[0], counter)
        return Reflect.apply(member, target, args)
      }
    },
  })
}

function countBatch(statements: unknown, counter: Counter): void {
  counter.count('begin')
  for (const statement of statements as (string | { sql: string })[])
    counter.count(typeof statement === 'string' ? statement : statement.sql)
  counter.count('commit')
}
