// Call — one request for a route, with everything that the route may use.
import type { Durably, EngineParts } from '../durably.ts'
import type { ServerConfig } from './options.ts'
import type { SseConnections } from './sse-connections.ts'

export interface Server {
  readonly durably: Durably
  readonly engine: EngineParts
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
