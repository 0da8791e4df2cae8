// To another service and back: what happens on the way, without HTTP.
//   J1. Where the service sends the user back to is configuration; nothing of a request decides it.
//   J2. Whatever comes back is worth something once, in the browser that started, for ten minutes.
import type { App } from '../app.ts'
import { connect } from '../db/auth.ts'
import { userOfIdentity } from '../db/identities.ts'
import { consumeState, createState, type Journey, type Refusal } from '../db/oauth-state.ts'
import { SecretUnreadable } from '../secrets/key-ring.ts'
import { ProviderError, shortCode } from './client.ts'
import type { OauthProvider, ProviderName } from './providers.ts'

export interface Start {
  provider: OauthProvider
  purpose: Journey['purpose']
  userId: string | null
  /** As the page asked for it. */
  returnTo: string | null
  binding: string
}

/** Where the browser goes. */
export async function startJourney(app: App, publicUrl: string, { provider, purpose, userId, returnTo, binding }: Start): Promise<URL> {
  const redirectUri = redirectUriOf(app, publicUrl, provider.name)
  const proof = app.oauth.newProof()
  const url = await app.oauth.authorizationUrl(provider, redirectUri, proof)
  const journey = { provider: provider.name, purpose, userId, redirectUri, returnTo: ownPath(returnTo, publicUrl) }
  await createState(app.db, journey, proof, binding, app.keys)
  return url
}

function redirectUriOf({ config }: App, publicUrl: string, provider: ProviderName): string {
  return new URL(config.oauth.callback === 'loopback' ? '/auth/callback' : `/api/oauth/${provider}/callback`, publicUrl).href
}

/** A path of our own; `/` for anything else. */
export function ownPath(returnTo: string | null, publicUrl: string): string {
  if (returnTo === null || !URL.canParse(returnTo, publicUrl)) return '/'
  const { origin, pathname, search, hash } = new URL(returnTo, publicUrl)
  const path = `${pathname}${search}${hash}`
  // A browser takes `//name` for another host, and dots in a path can leave one behind: `/.//name`.
  return origin === new URL(publicUrl).origin && !path.startsWith('//') ? path : '/'
}

export interface Callback {
  answer: URLSearchParams
  binding: string | undefined
  /** Who is signed in in the browser that came back. */
  userId: string | undefined
  /** If the path names it. */
  provider: string | undefined
}

export type Arrival =
  | { refusal: Refusal | 'provider_error' | 'not_a_user'; message: string }
  | { returnTo: string; signedInAs: string | null }

const WORDS = {
  state_unknown: 'nobody here started this; start again from the page',
  state_mismatch: 'this was started in another browser or by another user; start again from the page',
  state_used: 'this was used already; if you are not connected, start again from the page',
  state_expired: 'this took longer than ten minutes; start again from the page',
} as const

export async function finishJourney(app: App, callback: Callback): Promise<Arrival> {
  const { answer, binding } = callback
  const consumed = await consumeState(app.db, answer.get('state') ?? '', binding, app.keys).catch(expiredIfUnreadable)
  if (typeof consumed === 'string') return { refusal: consumed, message: WORDS[consumed] }
  const { journey, proof } = consumed
  const provider = app.config.oauth.providers[journey.provider]
  const isOther = callback.provider !== undefined && callback.provider !== journey.provider
  const isSomebodyElse = journey.purpose === 'connect' && callback.userId !== journey.userId
  if (!provider || isOther || isSomebodyElse) return { refusal: 'state_mismatch', message: WORDS.state_mismatch }
  const error = answer.get('error')
  if (error !== null) return { refusal: 'provider_error', message: `${provider.label} said: ${shortCode(error)}` }
  try {
    const arrived = await app.oauth.exchange(provider, journey.redirectUri, answer, proof)
    return await arrive(app, journey, arrived)
  } catch (error) {
    if (error instanceof ProviderError) return { refusal: 'provider_error', message: error.message }
    throw error
  }
}

type Arrived = Awaited<ReturnType<App['oauth']['exchange']>>

async function arrive(app: App, { purpose, provider, userId, returnTo }: Journey, { tokens, identity }: Arrived): Promise<Arrival> {
  if (purpose === 'connect' && userId !== null) {
    await connect(app.db, userId, { provider, account: identity.email ?? identity.subject, tokens }, app.keys)
    return { returnTo, signedInAs: null }
  }
  const user = await userOfIdentity(app.db, identity, { isOpenToAll: app.config.auth.isOpenToAll })
  if (user === undefined)
    return { refusal: 'not_a_user', message: 'you are no user here: the operator has to invite your verified address (create-user)' }
  return { returnTo, signedInAs: user }
}

function expiredIfUnreadable(error: unknown): 'state_expired' {
  if (error instanceof SecretUnreadable) return 'state_expired'
  throw error
}
