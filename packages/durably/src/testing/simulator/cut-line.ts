// CutLine — a dialect whose connection can be lost at any statement of a transaction, as a server ends one or a process dies:
// what was not committed is gone, and even the rollback is answered with an error. The next transaction has a new connection.
import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver } from 'kysely'

export interface CutLine {
  readonly dialect: Dialect
  /** Counts from here, inside a transaction: at statement number `n`, from 0. The commit is one; after it, its answer is lost. */
  cutAt(n: number, then: () => void): void
  /** How often it was cut. */
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
  /** `null` while nothing is planned; below 0 when it is cut. */
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
      // It is rolled back already: whoever wants to roll back hears that there is no connection, and gets a new one.
      if (ends === 'rollback') this.#left = null
      throw lost()
    }
    if (this.#left > 0 && ends !== undefined) {
      // The transaction ends before it comes to that.
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
