// The part of `pg` that is used. Importing the types of `pg` would make every user install them.
import { DurablyError } from '../model/errors.ts'
import type { ListenClientClass } from './listen-client.ts'
import { PoolWithoutJit } from './pool-without-jit.ts'

/** The part of a `Pool` of `pg` that is used. */
export interface PostgresPool {
  /** Takes a connection from the pool. */
  connect(): Promise<PostgresClient>
  /** Closes the pool. */
  end(): Promise<void>
  /** The options of the pool. Without `max`, the number of connections is not limited. */
  readonly options?: { readonly max?: number }
  /** Listens to errors of idle connections, and to new connections. */
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown
}

export interface PostgresClient {
  query(query: { text: string; values: unknown[]; name?: string; query_timeout: number }): Promise<PostgresResult>
  on(event: 'error', listener: (error: Error) => void): unknown
  release(error?: Error | boolean): void
}

export interface PostgresResult {
  command: 'UPDATE' | 'DELETE' | 'INSERT' | 'SELECT' | 'MERGE'
  rowCount: number
  rows: unknown[]
}

/** How long to wait for a connection. */
export const CONNECT_MS_MAX = 10_000

export async function openPool(connectionString: string, max: number): Promise<PostgresPool> {
  const { Pool } = await loadPg()
  const settings = { connectionString, max, keepAlive: true, connectionTimeoutMillis: CONNECT_MS_MAX, application_name: 'durably' }
  return new PoolWithoutJit((options) => new Pool({ ...settings, ...options }))
}

interface PgModule {
  Pool: new (config: object) => PostgresPool
  Client: ListenClientClass
}

export async function loadPg(): Promise<PgModule> {
  try {
    // `pg` is CommonJS: `default` has its exports in every runtime, named exports exist only in some.
    const module = (await import('pg')) as unknown as { default: PgModule }
    return module.default
  } catch (cause) {
    throw new DurablyError('invalid_config', 'postgres() needs the package pg: npm install pg', { cause })
  }
}
