// What a run proves to the model's server that it may ask: a key of the user, or the token of a connection. It is resolved in the worker, right before each call, and is
// in no payload, step or event: the redactor learns it first.
import { AgentError } from '../agent-error.ts'
import type { App } from '../app.ts'
import { type Connection, readConnection } from '../db/auth.ts'
import { type KeyName, openSecret } from '../db/secrets.ts'
import type { StoredSettings } from '../db/settings.ts'
import { accessToken } from '../oauth/access-token.ts'
import type { OauthProvider } from '../oauth/providers.ts'
import { SecretUnreadable } from '../secrets/key-ring.ts'
import type { Redactor } from '../secrets/redactor.ts'

const KEY_OF = {
  openai: 'openai_api_key',
  anthropic: 'anthropic_api_key',
  'openai-compatible': 'compatible_api_key',
} as const satisfies Record<string, KeyName>

export interface Credential {
  secret: string
  /** Where the token comes from, if it is no key. */
  connection?: { of: Connection; provider: OauthProvider }
}

export interface CredentialOptions {
  redactor: Redactor
  signal: AbortSignal
}

/**
 * Undefined if the user has none. A key goes before a connection. A key in the environment of the worker is not taken: it would be lent to every user.
 * Throws AgentError, and RefreshFailed.
 */
export async function credentialOf(
  app: App,
  userId: string,
  settings: StoredSettings,
  { redactor, signal }: CredentialOptions,
): Promise<Credential | undefined> {
  if (settings.provider === 'demo') return undefined
  try {
    const key = await openSecret(app.db, userId, KEY_OF[settings.provider], app.keys)
    if (key !== undefined) redactor.learn(key)
    if (key !== undefined) return { secret: key }
    const provider = connectable(app, settings)
    const connection = provider && (await accessToken(app, userId, provider, signal))
    if (!connection) return undefined
    learnTokens(redactor, connection)
    return { secret: connection.tokens.accessToken, connection: { of: connection, provider } }
  } catch (error) {
    throw explained(error)
  }
}

/** What must not be in the output of this run, without asking anybody for something new. */
export async function learnSecrets(app: App, userId: string, settings: StoredSettings, redactor: Redactor): Promise<void> {
  if (settings.provider === 'demo') return
  try {
    const key = await openSecret(app.db, userId, KEY_OF[settings.provider], app.keys)
    if (key !== undefined) redactor.learn(key)
    const provider = connectable(app, settings)
    const connection = provider && (await readConnection(app.db, userId, provider.name, app.keys))
    if (connection) learnTokens(redactor, connection)
  } catch (error) {
    throw explained(error)
  }
}

function learnTokens(redactor: Redactor, { tokens }: Connection): void {
  redactor.learn(tokens.accessToken)
  if (tokens.refreshToken !== null) redactor.learn(tokens.refreshToken)
}

/** Tokens go only where the operator says that they belong, whatever address a user enters. */
function connectable({ config }: App, { provider, base_url }: StoredSettings): OauthProvider | undefined {
  const { openai, oidc } = config.oauth.providers
  if (provider === 'openai') return openai
  const isItsApi = provider === 'openai-compatible' && base_url !== null && oidc?.apiUrl && isBelow(base_url, oidc.apiUrl)
  return isItsApi ? oidc : undefined
}

function isBelow(url: string, apiUrl: string): boolean {
  const [given, api] = [new URL(url), new URL(apiUrl)]
  const folder = (path: string) => (path.endsWith('/') ? path : `${path}/`)
  return given.origin === api.origin && folder(given.pathname).startsWith(folder(api.pathname))
}

function explained(error: unknown): unknown {
  if (!(error instanceof SecretUnreadable)) return error
  return new AgentError(
    'secret_unreadable',
    'Your stored key cannot be read on this server. Open the settings, enter the key again or reconnect, and retry; if that does not help, the operator has to check APP_KEYS.',
  )
}
