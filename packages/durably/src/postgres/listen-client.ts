// Clients of `pg` for LISTEN. They are outside of any pool, because a listener would occupy a connection of it for ever.
import { CONNECT_MS_MAX, loadPg, type PostgresPool } from './pool.ts'

/** The part of a `Client` of `pg` that is used. */
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

/** A connection that only listens notices by TCP keep-alive that the other end is gone. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 }
/** A message that was not accepted by then is given up. */
const QUERY_MS_MAX = 10_000

/** Null for a pool whose connection settings cannot be read: only those of a real `Pool` of `pg` can. */
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
  // A pool makes its password non-enumerable, so the spread does not copy it.
  return { ...options, ...(password !== undefined && { password }), ...limits(connectionTimeoutMillis) }
}

function limits(connectMs?: number): object {
  return { ...KEEP_ALIVE, connectionTimeoutMillis: connectMs || CONNECT_MS_MAX, query_timeout: QUERY_MS_MAX }
}
