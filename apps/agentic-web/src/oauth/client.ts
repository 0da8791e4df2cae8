// The protocol, by openid-client. Nothing else knows that library.
//   - What a service answers is remembered per process only where it is public: its metadata.
import * as openid from 'openid-client'
import type { OauthProvider } from './providers.ts'

const TIMEOUT_S = 10
const METADATA_MS = 3_600_000

/** The service refused, cannot be reached, or answered something that is not valid. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** The error of OAuth, such as `invalid_grant`, if the service said one. */
  readonly code: string | null

  constructor(code: string | null, message: string) {
    super(message)
    this.code = code
  }
}

export interface Proof {
  state: string
  verifier: string
  nonce: string
}

export interface Tokens {
  accessToken: string
  /** Null if the service gave none. */
  refreshToken: string | null
  expiresAt: number | null
}

export interface Identity {
  issuer: string
  subject: string
  email: string | null
  isEmailVerified: boolean
}

export class OauthClient {
  readonly #metadata = new Map<string, { config: Promise<openid.Configuration>; until: number }>()

  newProof(): Proof {
    return { state: openid.randomState(), verifier: openid.randomPKCECodeVerifier(), nonce: openid.randomNonce() }
  }

  async authorizationUrl(provider: OauthProvider, redirectUri: string, { state, verifier, nonce }: Proof): Promise<URL> {
    const config = await this.#discover(provider)
    return openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: provider.scope,
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      // Without it many services give no refresh token.
      ...(provider.scope.includes('offline_access') && { prompt: 'consent' }),
    })
  }

  /** `answer`: the query of the callback. */
  async exchange(
    provider: OauthProvider,
    redirectUri: string,
    answer: URLSearchParams,
    { state, verifier, nonce }: Proof,
  ): Promise<{ tokens: Tokens; identity: Identity }> {
    const config = await this.#discover(provider)
    const url = new URL(redirectUri)
    url.search = answer.toString()
    return told(async () => {
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
      const response = await openid.authorizationCodeGrant(config, url, checks)
      const claims = response.claims()
      if (!claims) throw new ProviderError(null, 'the service did not say who you are')
      const { iss, sub, email, email_verified } = claims
      const identity = {
        issuer: iss,
        subject: sub,
        email: typeof email === 'string' ? email : null,
        isEmailVerified: email_verified === true,
      }
      return { tokens: tokensOf(response), identity }
    })
  }

  async refresh(provider: OauthProvider, refreshToken: string): Promise<Tokens> {
    const config = await this.#discover(provider)
    return told(async () => {
      const tokens = tokensOf(await openid.refreshTokenGrant(config, refreshToken))
      // A service that does not rotate sends none back.
      return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken }
    })
  }

  async #discover(provider: OauthProvider): Promise<openid.Configuration> {
    const key = `${provider.issuer} ${provider.clientId}`
    const known = this.#metadata.get(key)
    if (known && known.until > Date.now()) return known.config
    const config = told(() => discover(provider))
    this.#metadata.set(key, { config, until: Date.now() + METADATA_MS })
    config.catch(() => this.#metadata.delete(key))
    return config
  }
}

async function discover({ issuer, clientId, clientSecret }: OauthProvider): Promise<openid.Configuration> {
  const auth = clientSecret === null ? openid.None() : openid.ClientSecretBasic(clientSecret)
  const url = new URL(issuer)
  // The profile prod refuses an issuer without https (profile.ts).
  const execute = url.protocol === 'http:' ? [openid.allowInsecureRequests] : []
  return openid.discovery(url, clientId, undefined, auth, { execute, timeout: TIMEOUT_S })
}

function tokensOf(response: Awaited<ReturnType<typeof openid.refreshTokenGrant>>): Tokens {
  const seconds = response.expiresIn()
  return {
    accessToken: response.access_token,
    refreshToken: response.refresh_token ?? null,
    expiresAt: seconds === undefined ? null : Date.now() + seconds * 1000,
  }
}

/** What went wrong, in a few words: errors of the library carry requests and answers with them. */
async function told<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ProviderError) throw error
    const code = error instanceof openid.ResponseBodyError || error instanceof openid.AuthorizationResponseError ? error.error : null
    if (code !== null) throw new ProviderError(shortCode(code), `the service refused: ${shortCode(code)}`)
    const isInvalid = error instanceof openid.ClientError && error.code !== undefined
    throw new ProviderError(null, isInvalid ? `the answer of the service is not valid (${error.code})` : 'the service cannot be reached')
  }
}

/** It comes from outside. */
export function shortCode(code: string): string {
  return /^[\w.-]{1,60}$/.test(code) ? code : 'an unknown error'
}
