// The server as one function: a Request in, a Response out. It wires the parts together and has no logic of its own.
import type { Durably } from '../durably.ts'
import { engineOf } from '../engine-of.ts'
import { DurablyError } from '../model/errors.ts'
import type { Server } from './call.ts'
import { refuseCrossSite } from './cross-site.ts'
import { errorResponse } from './http-error.ts'
import { readOptions, type ServerOptions } from './options.ts'
import { refuseForeignType } from './read-body.ts'
import { match } from './routes.ts'
import { SseConnections } from './sse-connections.ts'

/**
 * The server, as a function from `Request` to `Response`: mount it on Hono, Next.js, Deno, Bun and the like; for Node and Express wrap it
 * in `nodeListener`.
 */
export interface DurablyHandler {
  (request: Request): Promise<Response>
  /**
   * Ends all open streams and refuses new ones; call it before the process exits. Clients reconnect to another process and continue there.
   */
  close(): void
  /** How many streams are open now. */
  readonly openStreams: number
}

/**
 * Lets others reach runs over HTTP, on any server that speaks `Request` and `Response`.
 *
 * @example const handler = durablyHandler(durably, { authorize: (request) => isLoggedIn(request), basePath: '/api/durably' })
 */
export function durablyHandler(durably: Durably, options: ServerOptions): DurablyHandler {
  const config = readOptions(options)
  const engine = engineOf(durably, 'durablyHandler')
  const { env, pollingMs: intervalMs } = engine
  const connections = new SseConnections({ env, intervalMs, maxPerPrincipal: config.maxStreams })
  const server: Server = { durably, engine, config, connections }
  const handle = async (request: Request) => {
    try {
      return await answer(server, request)
    } catch (error) {
      return errorResponse(error, (error) => config.onError(error, request))
    }
  }
  return Object.defineProperties(handle, {
    close: { value: () => connections.close() },
    openStreams: { get: () => connections.size },
  }) as DurablyHandler
}

async function answer(server: Server, request: Request): Promise<Response> {
  const { pathname, searchParams: query } = new URL(request.url)
  const found = match(pathname, server.config.basePath)
  if (!found) throw new DurablyError('not_found', `there is nothing at ${JSON.stringify(pathname)}`)
  const serve = Object.hasOwn(found.methods, request.method) ? found.methods[request.method] : undefined
  if (!serve) return methodNotAllowed(request, Object.keys(found.methods))
  refuseCrossSite(request, server.config.allowedOrigins)
  if (request.method !== 'GET') refuseForeignType(request)
  return serve({ server, request, query, params: found.params })
}

function methodNotAllowed(request: Request, methods: readonly string[]): Response {
  const error = new DurablyError('method_not_allowed', `${request.method} is not allowed here; use ${methods.join(' or ')}`)
  return errorResponse(error, () => {}, { Allow: methods.join(', ') })
}
