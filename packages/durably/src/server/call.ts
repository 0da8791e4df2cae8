// Call — one request for a route, with everything that the route may use.
import type { Durably } from '../durably.ts'
import type { Engine } from '../engine.ts'
import type { ServerConfig } from './options.ts'
import type { SseConnections } from './sse-connections.ts'

export interface Server {
  readonly durably: Durably
  readonly engine: Engine
  readonly config: ServerConfig
  readonly connections: SseConnections
}

export interface Call {
  readonly server: Server
  readonly request: Request
  readonly query: URLSearchParams
  /** The named segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
}

export type Serve = (call: Call) => Promise<Response>
