// Behind this, every request has a user.
import type { EventStreams } from '@coji/durably/server'
import type { MiddlewareHandler } from 'hono'
import type { App } from '../app.ts'
import { countOne } from '../db/counters.ts'
import { findSignedIn } from '../db/web-sessions.ts'
import { LOCAL_USER } from '../user.ts'
import type { ApiEnv } from './api-context.ts'
import { HttpError } from './http-error.ts'
import { sessionTokenOf } from './session-cookie.ts'

export interface Surroundings {
  app: App
  streams: EventStreams
  report: (error: unknown) => void
}

export function demandUser({ app, streams, report }: Surroundings): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const userId = await userOf(app, c.req.raw)
    if (userId === undefined) throw new HttpError('signed_out', 'sign in first')
    await demandFewRequests(app, userId)
    const isStillSignedIn = async () => (await userOf(app, c.req.raw)) === userId
    c.set('context', { app, streams, userId, isStillSignedIn, report })
    await next()
  }
}

const MINUTE_MS = 60_000

async function demandFewRequests({ db, config }: App, userId: string): Promise<void> {
  const { requestsPerMinute: max } = config.limits.perUser
  if (max === Number.POSITIVE_INFINITY) return
  const waitMs = await countOne(db, `requests/${userId}`, { ms: MINUTE_MS, max })
  if (waitMs > 0)
    throw new HttpError('too_many_requests', `you may send ${max} requests in a minute; wait ${Math.ceil(waitMs / 1000)} s`, waitMs)
}

export async function userOf({ db, config: { auth } }: App, request: Request): Promise<string | undefined> {
  if (auth.mode === 'dev') return LOCAL_USER
  const token = sessionTokenOf(request, auth)
  return token === undefined ? undefined : (await findSignedIn(db, token))?.user_id
}
