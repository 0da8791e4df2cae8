// A real OpenID provider. Whoever comes is `account`, and consents, without being asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { TestBrowser } from './test-browser.ts'

const CLIENT = { id: 'agentic', secret: 'the secret of the client of the tests' }

export interface OidcOptions {
  redirectUris: string[]
  accessTokenSeconds?: number
}

export class OidcServer {
  readonly url: string
  /** Who signs in next. */
  account = { id: 'ada-at-the-service', email: 'ada@example.com', isVerified: true }
  /** The next one says no. */
  denies = false
  /** What was asked for, by kind of grant, and what came of it. */
  readonly grants: { type: string; succeeded: boolean }[] = []
  /** The queries of those who came. */
  readonly authorizations: URLSearchParams[] = []
  /** The token endpoint is out of order. */
  isDown = false
  readonly #server = createServer((req, res) => this.#answer(req, res))
  #provider: Provider | undefined

  private constructor(url: string) {
    this.url = url
  }

  static async start(options: OidcOptions): Promise<OidcServer> {
    const port = await freePort()
    const server = new OidcServer(`http://127.0.0.1:${port}`)
    server.#provider = server.#makeProvider(options)
    await new Promise<void>((resolve) => server.#server.listen(port, '127.0.0.1', resolve))
    return server
  }

  /** Variables for the app. */
  get env(): Record<string, string> {
    return { OAUTH_OIDC_ISSUER: this.url, OAUTH_OIDC_CLIENT_ID: CLIENT.id, OAUTH_OIDC_CLIENT_SECRET: CLIENT.secret }
  }

  count(type: 'authorization_code' | 'refresh_token'): number {
    return this.grants.filter((grant) => grant.type === type).length
  }

  /** The way of a browser through this server: the address of the app that it is sent back to. */
  async visit(address: string): Promise<URL> {
    const browser = new TestBrowser()
    for (let url = new URL(address); ; ) {
      const response = await browser.get(url)
      const location = response.headers.get('location')
      if (location === null) throw new Error(`the service answered ${response.status}: ${(await response.text()).slice(0, 500)}`)
      url = new URL(location, url)
      if (url.origin !== this.url) return url
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #makeProvider({ redirectUris, accessTokenSeconds = 3600 }: OidcOptions): Provider {
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: redirectUris,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        },
      ],
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      scopes: ['openid', 'email', 'offline_access'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      rotateRefreshToken: true,
      ttl: { AccessToken: accessTokenSeconds, IdToken: 600, RefreshToken: 86_400, Grant: 86_400, Session: 3600, Interaction: 600 },
      cookies: { keys: ['a key for tests'] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, email: this.account.email, email_verified: this.account.isVerified }),
      }),
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    })
    const note = (succeeded: boolean) => (ctx: { oidc: { params?: Record<string, unknown> | undefined } }) =>
      void this.grants.push({ type: String(ctx.oidc.params?.grant_type), succeeded })
    provider.on('grant.success', note(true))
    provider.on('grant.error', note(false))
    return provider
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', this.url)
    if (pathname === '/auth') this.authorizations.push(searchParams)
    if (this.isDown && pathname === '/token') return void res.writeHead(503).end()
    if (pathname.startsWith('/interaction/')) return this.#interact(req, res)
    this.#provider?.callback()(req, res)
  }

  async #interact(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const provider = this.#provider
    if (!provider) return
    if (this.denies) return provider.interactionFinished(req, res, { error: 'access_denied', error_description: 'the user said no' })
    const { prompt, params, session } = await provider.interactionDetails(req, res)
    if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: this.account.id } })
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) })
    grant.addOIDCScope(String(params.scope))
    await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } })
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
