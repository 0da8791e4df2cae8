// Behind this, every request has a user.
import type { EventStreams } from '@coji/durably/server'
import type { MiddlewareHandler } from 'hono'
import type { App } from '../app.ts'
import { findSignedIn } from '../db/web-sessions.ts'
import { LOCAL_USER } from '../user.ts'
import type { ApiEnv } from './api-context.ts'
import { HttpError } from './http-error.ts'
import { sessionTokenOf } from './session-cookie.ts'

export function demandUser(app: App, streams: EventStreams): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const userId = await userOf(app, c.req.raw)
    if (userId === undefined) throw new HttpError('signed_out', 'sign in first')
    c.set('context', { app, streams, userId })
    await next()
  }
}

export async function userOf({ db, config: { auth } }: App, request: Request): Promise<string | undefined> {
  if (auth.mode === 'dev') return LOCAL_USER
  const token = sessionTokenOf(request, auth)
  return token === undefined ? undefined : (await findSignedIn(db, token))?.user_id
}
