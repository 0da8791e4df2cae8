// MortalDialect — a dialect that ends at a statement of the test's choice, as a killed process or a lost reply does.
import type { CompiledQuery, DatabaseConnection, Dialect, Driver } from 'kysely'

/**
 * `killed before`, `killed after`: nothing is answered any more, what was not committed is gone. `killed when sent`: the same,
 * while the database still works on it. `reply lost`: it took effect.
 */
export type Death = 'killed before' | 'killed when sent' | 'killed after' | 'reply lost'

export interface MortalDialect extends Dialect {
  /** Counts from here: the statement number `n`, from 0, is the one. */
  dieAt(n: number, death: Death): void
  /** The statements since then. */
  readonly statements: readonly string[]
  readonly isDead: boolean
}

/** `kill`: how it dies; by default only its connections do. */
export function mortalDialect(dialect: Dialect, kill?: () => void): MortalDialect {
  const fate = new Fate()
  const extra = {
    createDriver: () => mortalDriver(dialect.createDriver(), fate, kill),
    dieAt: (n: number, death: Death) => fate.plan(n, death),
  }
  return new Proxy(dialect, {
    get: (target, name) => {
      if (name === 'statements') return fate.statements
      if (name === 'isDead') return fate.isDead
      const member: unknown = Reflect.get(extra, name) ?? Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  }) as MortalDialect
}

class Fate {
  statements: string[] = []
  isDead = false
  #at = -1
  #death: Death = 'killed before'

  plan(n: number, death: Death): void {
    this.statements = []
    this.#at = n
    this.#death = death
  }

  async meet<T>(sql: string, run: () => Promise<T>, kill: () => unknown): Promise<T> {
    if (this.isDead) return new Promise(() => {})
    const isIt = this.statements.push(sql) - 1 === this.#at
    if (isIt && this.#death === 'killed before') return this.#die(kill)
    if (isIt && this.#death === 'killed when sent') {
      void run()
      await new Promise<void>((resolve) => setImmediate(resolve))
      return this.#die(kill)
    }
    const answer = await run()
    if (!isIt) return answer
    if (this.#death === 'killed after') return this.#die(kill)
    throw new Error('the connection was reset')
  }

  async #die(kill: () => unknown): Promise<never> {
    this.isDead = true
    await kill()
    return new Promise(() => {})
  }
}

function mortalDriver(inner: Driver, fate: Fate, kill: () => unknown = () => inner.destroy()): Driver {
  const connections = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const originals = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const mortal = (connection: DatabaseConnection): DatabaseConnection => {
    const known = connections.get(connection)
    if (known) return known
    const made: DatabaseConnection = {
      executeQuery: (query: CompiledQuery) => fate.meet(query.sql, () => connection.executeQuery(query), kill),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
    connections.set(connection, made)
    originals.set(made, connection)
    return made
  }
  const original = (connection: DatabaseConnection) => originals.get(connection) ?? connection
  return {
    init: () => inner.init(),
    acquireConnection: async () => mortal(await inner.acquireConnection()),
    beginTransaction: (connection, settings) => inner.beginTransaction(original(connection), settings),
    commitTransaction: (connection) => inner.commitTransaction(original(connection)),
    rollbackTransaction: (connection) => inner.rollbackTransaction(original(connection)),
    releaseConnection: (connection) => inner.releaseConnection(original(connection)),
    destroy: () => inner.destroy(),
  }
}
