// As much of `pg` as is used. Its own types would make every user install them.
import { DurablyError } from '../model/errors.ts'
import type { ListenClientClass } from './listen-client.ts'

/** A `Pool` of `pg` is one. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  end(): Promise<void>
  /** A pool that does not say how many connections it opens is not guarded by a gate. */
  readonly options?: { readonly max?: number }
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

/** A server that does not answer must not hold a call for ever. */
export const CONNECT_MS_MAX = 10_000

export async function openPool(connectionString: string, max: number): Promise<PostgresPool> {
  const { Pool } = await loadPg()
  return new Pool({ connectionString, max, keepAlive: true, connectionTimeoutMillis: CONNECT_MS_MAX, application_name: 'durably' })
}

interface PgModule {
  Pool: new (config: object) => PostgresPool
  Client: ListenClientClass
}

export async function loadPg(): Promise<PgModule> {
  try {
    // CommonJS: its names stand in `default` everywhere, beside it only where they could be guessed.
    const module = (await import('pg')) as unknown as { default: PgModule }
    return module.default
  } catch (cause) {
    throw new DurablyError('invalid_config', 'postgres() needs the package pg: npm install pg', { cause })
  }
}
