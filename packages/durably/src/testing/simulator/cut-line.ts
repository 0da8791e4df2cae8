// CutLine — a dialect whose connection can be lost at any statement of a transaction, as a server ends one or a process dies:
// what was not committed is gone, and even the rollback is answered with an error. The next transaction has a new connection.
import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver } from 'kysely'

export interface CutLine {
  readonly dialect: Dialect
  /** Loses the connection at statement number `n` of the current transaction, counted from 0. If that is the commit, its answer is lost. */
  cutAt(n: number, then: () => void): void
  /** How often the connection was lost. */
  readonly cuts: number
  /** For the next world. */
  reset(): void
}

const ROLLBACK = CompiledQuery.raw('rollback')

export function cutLine(dialect: Dialect): CutLine {
  const line = new Line()
  const createDriver = () => cutDriver(dialect.createDriver(), line)
  return {
    dialect: new Proxy(dialect, {
      get: (target, name) => {
        const member: unknown = name === 'createDriver' ? createDriver : Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    }),
    cutAt: (n, then) => line.cutAt(n, then),
    get cuts() {
      return line.cuts
    },
    reset: () => line.reset(),
  }
}

class Line {
  cuts = 0
  /** How many statements are left until the cut; `null` while none is planned, below 0 after it. */
  #left: number | null = null
  #then: () => void = () => {}

  cutAt(n: number, then: () => void): void {
    this.#left = n
    this.#then = then
  }

  reset(): void {
    this.cuts = 0
    this.#left = null
  }

  async pass<T>(connection: DatabaseConnection, query: CompiledQuery, run: () => Promise<T>): Promise<T> {
    if (this.#left === null) return run()
    const ends = /^\s*(commit|rollback)/i.exec(query.sql)?.[1]?.toLowerCase()
    if (this.#left < 0) {
      // The database has rolled back already: a rollback is answered with an error, and the next transaction has a new connection.
      if (ends === 'rollback') this.#left = null
      throw lost()
    }
    if (this.#left > 0 && ends !== undefined) {
      // The transaction ends before the planned statement.
      this.#left = null
      return run()
    }
    if (this.#left-- > 0) return run()
    this.cuts++
    if (ends === undefined) await connection.executeQuery(ROLLBACK)
    else await run()
    if (ends === 'rollback') this.#left = null
    this.#then()
    throw lost()
  }
}

function lost(): Error {
  return new Error('the connection was lost')
}

function cutDriver(inner: Driver, line: Line): Driver {
  const originals = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const original = (connection: DatabaseConnection) => originals.get(connection) ?? connection
  const wrapped = (connection: DatabaseConnection): DatabaseConnection => {
    const made: DatabaseConnection = {
      executeQuery: (query) => line.pass(connection, query, () => connection.executeQuery(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
    originals.set(made, connection)
    return made
  }
  return {
    init: () => inner.init(),
    acquireConnection: async () => wrapped(await inner.acquireConnection()),
    beginTransaction: (connection, settings) => inner.beginTransaction(original(connection), settings),
    commitTransaction: (connection) => inner.commitTransaction(original(connection)),
    rollbackTransaction: (connection) => inner.rollbackTransaction(original(connection)),
    releaseConnection: (connection) => inner.releaseConnection(original(connection)),
    destroy: () => inner.destroy(),
  }
}
