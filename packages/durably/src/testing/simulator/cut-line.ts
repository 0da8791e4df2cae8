// CutLine — a dialect whose connection can be lost at any statement of a transaction, as a server ends one or a process dies:
// what was not committed is gone, and even the rollback is answered with an error. The next transaction has a new connection.
import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver } from 'kysely'
import type { Row } from '../../store/sql/shared/session.ts'
import { isSynchronous, type SynchronousDriver } from '../../store/sql/sqlite/transport/synchronous-driver.ts'

export interface CutLine {
  readonly dialect: Dialect
  /** Loses the connection at statement number `n` of the current transaction, counted from 0. If that is the commit, its answer is lost. */
  cutAt(n: number, then: () => void): void
  /** Runs one statement without a promise; undefined while somebody has the connection, or where the driver cannot do that. */
  executeNow(query: CompiledQuery): Row[] | undefined
  /** How often the connection was lost. */
  readonly cuts: number
  /** For the next world. `isAsync`: the driver takes a promise for each statement, as most drivers do, also where it could do without. */
  reset(isAsync?: boolean): void
}

const ROLLBACK = CompiledQuery.raw('rollback')

export function cutLine(dialect: Dialect): CutLine {
  const line = new Line()
  let driver: Driver | undefined
  const createDriver = () => {
    driver = dialect.createDriver()
    return cutDriver(driver, line)
  }
  return {
    dialect: new Proxy(dialect, {
      get: (target, name) => {
        const member: unknown = name === 'createDriver' ? createDriver : Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    }),
    cutAt: (n, then) => line.cutAt(n, then),
    executeNow: (query) => (driver && isSynchronous(driver) ? driver.executeNow([query], () => {})?.[0] : undefined),
    get cuts() {
      return line.cuts
    },
    reset: (isAsync = false) => line.reset(isAsync),
  }
}

class Line {
  cuts = 0
  isAsync = false
  /** How many statements are left until the cut; `null` while none is planned, below 0 after it. */
  #left: number | null = null
  #then: () => void = () => {}

  cutAt(n: number, then: () => void): void {
    this.#left = n
    this.#then = then
  }

  reset(isAsync: boolean): void {
    this.isAsync = isAsync
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
  const wrappers = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const originals = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const original = (connection: DatabaseConnection) => originals.get(connection) ?? connection
  // One for each connection: what Kysely does with a connection that it has not seen costs more than a statement.
  const wrapped = (connection: DatabaseConnection): DatabaseConnection => {
    const known = wrappers.get(connection)
    if (known) return known
    const made: DatabaseConnection = {
      executeQuery: (query) => line.pass(connection, query, () => connection.executeQuery(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
    wrappers.set(connection, made)
    originals.set(made, connection)
    return made
  }
  return {
    // While a transaction can be cut, it has the connection, and nothing is executed at once.
    ...(isSynchronous(inner) && {
      executeNow: (...batch: Parameters<SynchronousDriver['executeNow']>) => (line.isAsync ? undefined : inner.executeNow(...batch)),
    }),
    init: () => inner.init(),
    acquireConnection: async () => wrapped(await inner.acquireConnection()),
    beginTransaction: (connection, settings) => inner.beginTransaction(original(connection), settings),
    commitTransaction: (connection) => inner.commitTransaction(original(connection)),
    rollbackTransaction: (connection) => inner.rollbackTransaction(original(connection)),
    releaseConnection: (connection) => inner.releaseConnection(original(connection)),
    destroy: () => inner.destroy(),
  }
}
