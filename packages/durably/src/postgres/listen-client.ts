// Clients of `pg` outside any pool, for LISTEN: in a pool it would take the place of a connection for ever.
import { CONNECT_MS_MAX, loadPg, type PostgresPool } from './pool.ts'

/** A `Client` of `pg` is one. */
export interface ListenClient {
  connect(): Promise<unknown>
  query(query: { text: string; values: unknown[] }): Promise<unknown>
  end(): Promise<unknown>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): unknown
  readonly connection?: { stream?: { destroy?(): void } }
}

export type ListenClientClass = new (config: object) => ListenClient

export type MakeListenClient = () => Promise<ListenClient>

/** A connection that is only listened to notices by these that the other end has gone. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 }
/** A message that was not taken by then never will be. */
const QUERY_MS_MAX = 10_000

/** Null if the place does not say how to connect to it: only a real `Pool` of `pg` does. */
export function listenClientsFor(place: string | PostgresPool): MakeListenClient | null {
  if (typeof place === 'string')
    return async () => {
      const { Client } = await loadPg()
      return new Client({ connectionString: place, application_name: 'durably', ...limits() })
    }
  const Client: unknown = Reflect.get(place, 'Client')
  const options: unknown = Reflect.get(place, 'options')
  if (typeof Client !== 'function' || typeof options !== 'object' || options === null) return null
  return async () => new (Client as ListenClientClass)(configLike(options))
}

function configLike(options: object): object {
  const { connectionTimeoutMillis, password } = options as { connectionTimeoutMillis?: number; password?: unknown }
  // A pool hides its password from copies.
  return { ...options, ...(password !== undefined && { password }), ...limits(connectionTimeoutMillis) }
}

function limits(connectMs?: number): object {
  return { ...KEEP_ALIVE, connectionTimeoutMillis: connectMs || CONNECT_MS_MAX, query_timeout: QUERY_MS_MAX }
}
