// Kysely's driver on top of a DatabaseClient. There is one connection, which one caller uses at a time, and each message carries one
// statement or a whole transaction.
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely'
import { systemEnv } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { BatchingConnection } from '../store/sql/shared/batching-connection.ts'
import type { Row } from '../store/sql/shared/session.ts'
import { checkedParameters } from '../store/sql/sqlite/parameters.ts'
import type { TabRole } from '../store/tab-role.ts'
import { DatabaseClient } from './database-client.ts'
import { DatabaseHost } from './database-host.ts'
import { placeNames, type Result, type Statement } from './protocol.ts'

export interface BrowserPlace {
  name: string
  synchronous: 'FULL' | 'NORMAL'
}

export class BrowserDriver implements Driver {
  readonly #place: BrowserPlace
  #deps: { client: DatabaseClient; host: DatabaseHost; die: () => void } | null = null
  #turns = 0
  #free: Promise<void> = Promise.resolve()
  #release: () => void = () => {}

  constructor(place: BrowserPlace) {
    this.#place = place
  }

  get client(): DatabaseClient | null {
    return this.#deps?.client ?? null
  }

  get role(): TabRole {
    if (!this.#deps) return 'idle'
    if (this.#deps.host.isHosting) return 'host'
    return this.#deps.client.isSilent ? 'host-frozen' : 'guest'
  }

  async init(): Promise<void> {
    checkBrowser()
    const env = systemEnv()
    const { name, synchronous } = this.#place
    const guest = env.id()
    const die = await holdLock(placeNames(name).guest(guest))
    const client = new DatabaseClient({ name, guest, env, isHost: () => this.role === 'host' })
    const host = new DatabaseHost({
      name,
      host: guest,
      synchronous,
      env,
      onOpen: (port) => client.useOwn(port),
      onFail: (error) => client.fail(error),
    })
    this.#deps = { client, host, die }
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#free
    let release = () => {}
    this.#free = new Promise((resolve) => {
      release = resolve
    })
    await before
    this.#release = release
    if (!this.#deps) {
      release()
      throw new DurablyError('store_closed', 'the database is closed')
    }
    return new BrowserConnection(this.#deps.client, ++this.#turns)
  }

  async releaseConnection(): Promise<void> {
    this.#release()
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async destroy(): Promise<void> {
    const deps = this.#deps
    this.#deps = null
    deps?.client.close()
    await deps?.host.leave()
    deps?.die()
  }
}

class BrowserConnection implements BatchingConnection {
  readonly #client: DatabaseClient
  readonly #turn: number

  constructor(client: DatabaseClient, turn: number) {
    this.#client = client
    this.#turn = turn
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const [result] = await this.#send([query], false)
    if (!result) throw new TypeError('the database sent no result')
    const { rows, changes, lastInsertRowId } = result
    if (changes === null) return { rows: rows as R[] }
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowId) }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }

  async writeBatch(queries: readonly CompiledQuery[]): Promise<Row[][]> {
    return (await this.#send(queries, true)).map(({ rows }) => rows)
  }

  #send(queries: readonly CompiledQuery[], atomic: boolean): Promise<readonly Result[]> {
    return this.#client.call({ turn: this.#turn, statements: queries.map(toStatement), atomic })
  }
}

function toStatement({ sql, parameters }: CompiledQuery): Statement {
  return { sql, parameters: checkedParameters(parameters) }
}

/** The lock is held until the returned function is called, or the tab dies. */
async function holdLock(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, () => new Promise<void>((release) => resolve(release))).catch(reject)
  })
}

function checkBrowser(): void {
  const missing = [
    typeof Worker === 'undefined' && 'workers',
    typeof BroadcastChannel === 'undefined' && 'BroadcastChannel',
    globalThis.navigator?.locks === undefined && 'Web Locks',
    globalThis.navigator?.storage?.getDirectory === undefined && 'OPFS',
  ].filter(Boolean)
  if (missing.length === 0) return
  throw new DurablyError(
    'invalid_config',
    `browserDialect() needs a browser with ${missing.join(', ')}; they exist in pages that come over https or from localhost`,
  )
}
