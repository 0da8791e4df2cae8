// Routes to other services and back. A browser comes to the first two as a whole page, so their errors are pages too.
import { Hono } from 'hono'
import { z } from 'zod'
import type { App } from '../app.ts'
import { newToken } from '../auth/token.ts'
import { disconnect, listConnections } from '../db/auth.ts'
import { countOne } from '../db/counters.ts'
import { ProviderError } from '../oauth/client.ts'
import { finishJourney, startJourney } from '../oauth/journey.ts'
import type { OauthProvider } from '../oauth/providers.ts'
import type { OauthList } from '../wire/oauth.ts'
import type { ApiEnv } from './api-context.ts'
import { clientAddress } from './client-address.ts'
import { userOf } from './demand-user.ts'
import { errorPage } from './error-page.ts'
import { HttpError, notFound } from './http-error.ts'
import { readCookie, setCookie } from './session-cookie.ts'
import { newSession } from './sign-in.ts'

const BINDING_S = 600
const STARTS = { ms: 60_000, max: 60 }
const purposes = z.enum(['login', 'connect'])

export function publicOauthRoutes(app: App): Hono {
  return new Hono()
    .get('/:provider/start', ({ req }) => asPage(req.raw, () => start(app, req.raw, req.param('provider'))))
    .get('/:provider/callback', ({ req }) => asPage(req.raw, () => callback(app, req.raw, req.param('provider'))))
}

/** The path that clients for one's own machine are registered with. The profile prod does not have it. */
export function loopbackCallback(app: App): Hono {
  const routes = new Hono()
  return app.config.oauth.callback === 'loopback'
    ? routes.get('/', ({ req }) => asPage(req.raw, () => callback(app, req.raw, undefined)))
    : routes
}

/** Behind the sign-in. */
export function oauthRoutes(): Hono<ApiEnv> {
  return new Hono<ApiEnv>()
    .get('/', async ({ json, var: { context } }) => json(await list(context.app, context.userId)))
    .delete('/:provider', async ({ req, body, var: { context } }) => {
      const { name } = configured(context.app, req.param('provider'))
      if (!(await disconnect(context.app.db, context.userId, name))) throw notFound('connection')
      return body(null, 204)
    })
}

async function list({ db, config }: App, userId: string): Promise<OauthList> {
  const connections = await listConnections(db, userId)
  const connectable = Object.values(config.oauth.providers).filter(({ apiUrl }) => apiUrl !== null)
  return {
    providers: connectable.map(({ name, label }) => {
      const known = connections.find(({ provider }) => provider === name)
      return { provider: name, label, status: known?.status ?? 'none', account: known?.account ?? null }
    }),
  }
}

async function start(app: App, request: Request, name: string): Promise<Response> {
  const provider = configured(app, name)
  const { auth } = app.config
  if (auth.publicUrl === null) throw new HttpError('not_found', 'set PUBLIC_URL: the service must know where to send you back to')
  const query = new URL(request.url).searchParams
  const purpose = purposes.catch('connect').parse(query.get('purpose'))
  if (purpose === 'login' && (auth.mode !== 'oidc' || provider.name !== 'oidc')) throw notFound('way to sign in')
  if (purpose === 'connect' && provider.apiUrl === null) throw notFound('service to connect')
  const userId = purpose === 'connect' ? await connectingUser(app, request) : await comingStranger(app, request)
  const binding = readCookie(request, bindingName(auth)) ?? newToken()
  const url = await startJourney(app, auth.publicUrl, { provider, purpose, userId, returnTo: query.get('return_to'), binding }).catch(
    refuse,
  )
  return redirect(url.href, setCookie(bindingName(auth), binding, BINDING_S, auth))
}

/** Only from our own page: no other one may start this in somebody's name. */
async function connectingUser(app: App, request: Request): Promise<string> {
  const userId = await userOf(app, request)
  if (userId === undefined) throw new HttpError('signed_out', 'sign in first')
  if (request.headers.get('Sec-Fetch-Site') === 'cross-site') throw new HttpError('cross_origin', 'a page of another site may not do this')
  return userId
}

/** Each leaves a row behind, and nobody knows who it is. */
async function comingStranger({ db, config }: App, request: Request): Promise<null> {
  const waitMs = await countOne(db, `oauth/address/${clientAddress(request, config.auth)}`, STARTS)
  if (waitMs > 0) throw new HttpError('too_many_attempts', 'too many attempts to sign in; try again in a minute', waitMs)
  return null
}

async function callback(app: App, request: Request, provider: string | undefined): Promise<Response> {
  const { auth } = app.config
  const arrival = await finishJourney(app, {
    answer: new URL(request.url).searchParams,
    binding: readCookie(request, bindingName(auth)),
    userId: await userOf(app, request),
    provider,
  })
  if ('refusal' in arrival) throw new HttpError(arrival.refusal, arrival.message)
  const { returnTo, signedInAs } = arrival
  return redirect(returnTo, signedInAs === null ? undefined : await newSession(app, request, signedInAs))
}

function refuse(error: unknown): never {
  throw error instanceof ProviderError ? new HttpError('provider_error', error.message) : error
}

function configured({ config }: App, name: string): OauthProvider {
  const provider = Object.values(config.oauth.providers).find((provider) => provider.name === name)
  if (!provider) throw notFound('service')
  return provider
}

function bindingName({ isSecure }: { isSecure: boolean }): string {
  return isSecure ? '__Host-agentic-oauth' : 'agentic-oauth'
}

function redirect(location: string, cookie: string | undefined): Response {
  return new Response(null, {
    status: 302,
    headers: { Location: location, 'Cache-Control': 'no-store', ...(cookie && { 'Set-Cookie': cookie }) },
  })
}

async function asPage(request: Request, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof HttpError && request.headers.get('Accept')?.includes('text/html')) return errorPage(error)
    throw error
  }
}
