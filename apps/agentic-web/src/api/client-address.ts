// Where on the network a request comes from. The server writes the address of the connection into a header of its own, over whatever the client
// sent there; behind a proxy that is the proxy, whose word is taken if the operator says that there is one (TRUST_PROXY=1).
import type { IncomingMessage } from 'node:http'
import type { AuthConfig } from '../config.ts'

const HEADER = 'x-agentic-address'

export function noteAddress({ headers, socket }: IncomingMessage): void {
  headers[HEADER] = socket.remoteAddress ?? 'unknown'
}

export function clientAddress({ headers }: Request, { trustProxy }: Pick<AuthConfig, 'trustProxy'>): string {
  // The last one is what the proxy itself has seen; those before it are the client's word.
  const forwarded = trustProxy ? headers.get('X-Forwarded-For')?.split(',').at(-1)?.trim() : undefined
  return (forwarded || headers.get(HEADER) || 'unknown').slice(0, 64)
}
