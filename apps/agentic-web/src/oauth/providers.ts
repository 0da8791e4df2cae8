// Other services where users have accounts. Each is configured by the operator, with a client of the operator's own; without one the service is not offered.
export type ProviderName = 'openai' | 'oidc'

export interface OauthProvider {
  name: ProviderName
  /** For people. */
  label: string
  issuer: string
  clientId: string
  /** Null for a public client. */
  clientSecret: string | null
  scope: string
  /** Where the tokens may be sent to. Null if they are for signing in only. */
  apiUrl: string | null
}

export type OauthProviders = Partial<Record<ProviderName, OauthProvider>>

type Env = Readonly<Record<string, string | undefined>>

const DEFAULTS = {
  openai: { label: 'OpenAI', issuer: 'https://auth.openai.com', apiUrl: 'https://api.openai.com/v1' },
  oidc: { label: 'your organisation', issuer: undefined, apiUrl: undefined },
} as const

export function readProviders(env: Env): OauthProviders {
  const openai = readProvider(env, 'openai')
  const oidc = readProvider(env, 'oidc')
  return { ...(openai && { openai }), ...(oidc && { oidc }) }
}

function readProvider(env: Env, name: ProviderName): OauthProvider | undefined {
  const { label, issuer, apiUrl } = DEFAULTS[name]
  const value = (what: string) => env[`OAUTH_${name.toUpperCase()}_${what}`] || undefined
  const clientId = value('CLIENT_ID')
  if (clientId === undefined) return undefined
  const named = value('ISSUER') ?? issuer
  if (named === undefined || !URL.canParse(named)) throw new Error(`OAUTH_${name.toUpperCase()}_ISSUER must be the address of the service`)
  return {
    name,
    label: value('LABEL') ?? label,
    issuer: named,
    clientId,
    clientSecret: value('CLIENT_SECRET') ?? null,
    scope: value('SCOPE') ?? 'openid email offline_access',
    apiUrl: value('API_URL') ?? apiUrl ?? null,
  }
}
