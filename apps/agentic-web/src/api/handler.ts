// The API as a function from Request to Response, and the page beside it.
import { eventStreams } from '@coji/durably/server'
import { Hono } from 'hono'
import type { App } from '../app.ts'
import type { ApiEnv } from './api-context.ts'
import { approvalRoutes } from './approvals.ts'
import { artifactRoutes } from './artifacts.ts'
import { demandUser } from './demand-user.ts'
import { errorResponse, HttpError } from './http-error.ts'
import { legacyChatRoutes } from './legacy-chat.ts'
import { loopbackCallback, oauthRoutes, publicOauthRoutes } from './oauth.ts'
import { runRoutes } from './runs.ts'
import { demandSameOrigin } from './same-origin.ts'
import { securityHeaders } from './security-headers.ts'
import { serviceRoutes } from './service.ts'
import { sessionRoutes } from './sessions.ts'
import { settingsRoutes } from './settings.ts'
import { meRoute, passwordRoute, publicAuthRoutes } from './sign-in.ts'
import { staticFile } from './static-files.ts'

export interface ApiOptions {
  app: App
  /** For `/api/health`. */
  role: string
  uiFolder: string
  /** The names under which the server may be reached; `*` for any. */
  hosts: ReadonlySet<string>
  report: (error: unknown) => void
}

export interface Api {
  handle: (request: Request) => Promise<Response>
  /** Ends all event streams; pages connect again, to another server. */
  close: () => void
  /** For the test that asks each of them as somebody else. */
  routes: readonly { method: string; path: string }[]
}

export function createApi({ app, role, uiFolder, hosts, report }: ApiOptions): Api {
  const streams = eventStreams(app.durably, { onError: report })
  const { auth } = app.config
  const api = new Hono<ApiEnv>()
    .use(securityHeaders(auth))
    .use(async ({ req }, next) => {
      demandSameOrigin(req.raw, { ...auth, hosts })
      await next()
    })
    .route('/api', serviceRoutes(app, role))
    .route('/api/auth', publicAuthRoutes(app))
    .route('/api/oauth', publicOauthRoutes(app))
    .route('/auth/callback', loopbackCallback(app))
    // Everything below belongs to a user.
    .use('/api/*', demandUser({ app, streams, report }))
    .route('/api/me', meRoute(app))
    .route('/api/auth/password', passwordRoute(app))
    .route('/api/runs', runRoutes())
    .route('/api/runs', approvalRoutes())
    .route('/api/sessions', sessionRoutes())
    .route('/api/artifacts', artifactRoutes())
    .route('/api/settings', settingsRoutes())
    .route('/api/chat', legacyChatRoutes())
    .route('/api/oauth', oauthRoutes())
    .all('/api/*', () => {
      throw new HttpError('not_found', 'there is no such route')
    })
    .get('*', ({ req }) => staticFile(uiFolder, decodeURIComponent(new URL(req.url).pathname)))
    .onError((error) => errorResponse(error, report))
  return { handle: async (request) => api.fetch(request), close: () => streams.close(), routes: api.routes }
}
