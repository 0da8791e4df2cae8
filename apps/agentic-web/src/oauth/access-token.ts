// An access token that is valid for a while. Of all workers that need a new one, one asks the service and the others wait for what it gets: services that
// rotate refresh tokens take a second request with the same one for theft.
import { setTimeout as pause } from 'node:timers/promises'
import { AgentError } from '../agent-error.ts'
import type { App } from '../app.ts'
import { type Connection, type Leased, markReconnect, pauseLease, readConnection, storeRefreshed, takeLease } from '../db/auth.ts'
import { ProviderError, type Tokens } from './client.ts'
import type { OauthProvider } from './providers.ts'

/** A token that ends during the call of the model would be of no use. */
const EARLY_MS = 60_000
const LOOK_AGAIN_MS = 100
/** After a service that cannot be reached was asked. */
const PAUSE_MS = 5000

/** The service cannot be reached just now: later it may. */
export class RefreshFailed extends Error {
  override readonly name = 'RefreshFailed'
  readonly retryAfterMs = PAUSE_MS
}

/** Undefined if the user has not connected. Throws SecretUnreadable, AgentError `auth_expired` and RefreshFailed. */
export async function accessToken(app: App, userId: string, provider: OauthProvider, signal: AbortSignal): Promise<Connection | undefined> {
  for (;;) {
    const connection = await readConnection(app.db, userId, provider.name, app.keys)
    if (!connection) return undefined
    if (connection.status === 'reconnect') throw reconnect(provider)
    const { expiresAt } = connection.tokens
    if (expiresAt === null || expiresAt > Date.now() + EARLY_MS) return connection
    const lease = await takeLease(app.db, connection)
    if (lease === undefined) await pause(LOOK_AGAIN_MS, undefined, { signal })
    else await refresh(app, provider, { connection, lease })
  }
}

async function refresh({ db, oauth, keys }: App, provider: OauthProvider, leased: Leased): Promise<void> {
  const { refreshToken } = leased.connection.tokens
  let tokens: Tokens
  try {
    if (refreshToken === null) throw new ProviderError('invalid_grant', 'there is no refresh token')
    tokens = await oauth.refresh(provider, refreshToken)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (error.code === 'invalid_grant') {
      await markReconnect(db, leased)
      throw reconnect(provider)
    }
    await pauseLease(db, leased, PAUSE_MS)
    throw new RefreshFailed(`${provider.label} gave no new token: ${error.message}`)
  }
  await storeRefreshed(db, leased, tokens, keys)
}

export function reconnect({ label }: OauthProvider): AgentError {
  return new AgentError('auth_expired', `The connection to ${label} has ended. Open the settings, reconnect and retry.`)
}
