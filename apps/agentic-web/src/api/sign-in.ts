// Routes to sign in and out. Those of `publicAuthRoutes` can be asked without being signed in.
import { Hono } from 'hono'
import { z } from 'zod'
import type { App } from '../app.ts'
import { hashPassword, isPassword, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../auth/password.ts'
import { countOne, forgetCounts } from '../db/counters.ts'
import { acceptInvite, isInvite } from '../db/invites.ts'
import type { AppTransaction } from '../db/tables.ts'
import { findByEmail, findUser, normalEmail, setPassword } from '../db/users.ts'
import { createWebSession, endAllWebSessions, endWebSession, findSignedIn } from '../db/web-sessions.ts'
import type { AuthView, MeView } from '../wire/account.ts'
import type { ApiContext, ApiEnv } from './api-context.ts'
import { clientAddress } from './client-address.ts'
import { HttpError } from './http-error.ts'
import { readBody } from './read-body.ts'
import { noSessionCookie, sessionCookie, sessionTokenOf } from './session-cookie.ts'

const MINUTE_MS = 60_000
/** Of one user, and of one address on the network. Who guesses gets nowhere with five attempts. */
const PER_USER = { ms: 15 * MINUTE_MS, max: 5 }
const PER_ADDRESS = { ms: 15 * MINUTE_MS, max: 100 }

const password = z.string().max(PASSWORD_LENGTH_MAX, `at most ${PASSWORD_LENGTH_MAX} characters`)
const newPassword = password.min(PASSWORD_LENGTH_MIN, `at least ${PASSWORD_LENGTH_MIN} characters`)
const signIn = z.strictObject({ email: z.string().max(320), password })
const invite = z.strictObject({ token: z.string().max(100), password: newPassword })
const signOut = z.strictObject({ everywhere: z.boolean().optional() })
const passwordChange = z.strictObject({ current: password, password: newPassword })

export function publicAuthRoutes(app: App): Hono {
  const { mode } = app.config.auth
  const routes = new Hono().get('/', ({ json }) => json({ mode } satisfies AuthView)).post('/logout', ({ req }) => logOut(app, req.raw))
  if (mode !== 'password') return routes
  return routes.post('/login', ({ req }) => logIn(app, req.raw)).post('/invite', ({ req }) => takeInvite(app, req.raw))
}

/** Behind the sign-in. */
export function meRoute({ config, db }: App): Hono<ApiEnv> {
  return new Hono<ApiEnv>().get('/', async ({ json, var: { context } }) => {
    const user = await findUser(db, context.userId)
    return json({ user_id: context.userId, email: user?.email ?? null, mode: config.auth.mode } satisfies MeView)
  })
}

/** Behind the sign-in. */
export function passwordRoute({ config }: App): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>()
  return config.auth.mode === 'password' ? routes.post('/', ({ req, var: { context } }) => changePassword(context, req.raw)) : routes
}

async function logIn(app: App, request: Request): Promise<Response> {
  const { email, password } = await readBody(request, signIn)
  const counter = perUser(email)
  await demandFewAttempts(app, request, counter)
  const user = await findByEmail(app.db, email)
  if (!(await isPassword(password, user?.password_hash ?? null)) || !user) throw wrongPassword('the address or the password is wrong')
  await forgetCounts(app.db, counter)
  return signedIn(app, request, user.user_id)
}

async function takeInvite(app: App, request: Request): Promise<Response> {
  const { token, password } = await readBody(request, invite)
  await demandFewAttempts(app, request)
  const invalid = new HttpError('invalid_link', 'this link was used already, or is too old; ask for a new one (create-user)')
  if (!(await isInvite(app.db, token))) throw invalid
  const userId = await acceptInvite(app.db, token, await hashPassword(password))
  if (userId === undefined) throw invalid
  return signedIn(app, request, userId)
}

async function changePassword({ app, userId }: ApiContext, request: Request): Promise<Response> {
  const { current, password } = await readBody(request, passwordChange)
  const user = await findUser(app.db, userId)
  await demandFewAttempts(app, request, perUser(user?.email ?? userId))
  if (!(await isPassword(current, user?.password_hash ?? null))) throw wrongPassword('current: this is not your password')
  const hash = await hashPassword(password)
  await app.db.transaction().execute(async (trx: AppTransaction) => {
    await setPassword(trx, userId, hash)
    await endAllWebSessions(trx, userId)
  })
  return signedIn(app, request, userId)
}

async function logOut(app: App, request: Request): Promise<Response> {
  const { everywhere = false } = await readBody(request, signOut)
  const { auth } = app.config
  const token = sessionTokenOf(request, auth)
  const user = token === undefined ? undefined : await findSignedIn(app.db, token)
  if (user && everywhere) await endAllWebSessions(app.db, user.user_id)
  if (token !== undefined) await endWebSession(app.db, token)
  return new Response(null, { status: 204, headers: { 'Set-Cookie': noSessionCookie(auth) } })
}

/** Always with a new cookie, and the one that the browser had ends: a cookie that somebody planted there is worth nothing. */
async function signedIn(app: App, request: Request, userId: string): Promise<Response> {
  const cookie = await newSession(app, request, userId)
  const user = await findUser(app.db, userId)
  const me: MeView = { user_id: userId, email: user?.email ?? null, mode: app.config.auth.mode }
  return Response.json(me, { headers: { 'Set-Cookie': cookie, 'Cache-Control': 'no-store' } })
}

export async function newSession({ db, config: { auth } }: App, request: Request, userId: string): Promise<string> {
  const old = sessionTokenOf(request, auth)
  if (old !== undefined) await endWebSession(db, old)
  return sessionCookie(await createWebSession(db, userId), auth)
}

async function demandFewAttempts({ db, config }: App, request: Request, ...counters: string[]): Promise<void> {
  const address = clientAddress(request, config.auth)
  const waits = [await countOne(db, `sign-in/address/${address}`, PER_ADDRESS)]
  for (const counter of counters) waits.push(await countOne(db, counter, PER_USER))
  const waitMs = Math.max(...waits)
  if (waitMs > 0)
    throw new HttpError('too_many_attempts', `too many attempts to sign in; try again in ${Math.ceil(waitMs / MINUTE_MS)} min`, waitMs)
}

function perUser(email: string): string {
  return `sign-in/user/${normalEmail(email)}`
}

function wrongPassword(message: string): HttpError {
  return new HttpError('wrong_password', message)
}
