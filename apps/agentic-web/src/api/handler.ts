// The API as a function from Request to Response, and the page beside it.
import { eventStreams } from '@coji/durably/server'
import { Hono } from 'hono'
import type { App } from '../app.ts'
import { LOCAL_USER } from '../user.ts'
import type { ApiContext } from './api-context.ts'
import { approvalRoutes } from './approvals.ts'
import { artifactRoutes } from './artifacts.ts'
import { errorResponse, HttpError } from './http-error.ts'
import { legacyChatRoutes } from './legacy-chat.ts'
import { runRoutes } from './runs.ts'
import { demandSameOrigin } from './same-origin.ts'
import { serviceRoutes } from './service.ts'
import { sessionRoutes } from './sessions.ts'
import { settingsRoutes } from './settings.ts'
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
}

export function createApi({ app, role, uiFolder, hosts, report }: ApiOptions): Api {
  const streams = eventStreams(app.durably, { onError: report })
  const context: ApiContext = { app, streams, userId: LOCAL_USER }
  const api = new Hono()
    .use(async ({ req }, next) => {
      demandSameOrigin(req.raw, hosts)
      await next()
    })
    .route('/api/runs', runRoutes(context))
    .route('/api/runs', approvalRoutes(context))
    .route('/api/sessions', sessionRoutes(context))
    .route('/api/artifacts', artifactRoutes(context))
    .route('/api/settings', settingsRoutes(context))
    .route('/api/chat', legacyChatRoutes(context))
    .route('/api', serviceRoutes(context, role))
    .all('/api/*', () => {
      throw new HttpError('not_found', 'there is no such route')
    })
    .get('*', ({ req }) => staticFile(uiFolder, decodeURIComponent(new URL(req.url).pathname)))
    .onError((error) => errorResponse(error, report))
  return { handle: async (request) => api.fetch(request), close: () => streams.close() }
}
