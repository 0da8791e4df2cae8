// A fleet whose users sign in, behind a load balancer, beside a real OpenID provider.

import { RoundRobinProxy } from '../../../proof/src/fleet/proxy.ts'
import type { App } from '../dist/app.js'
import { Client } from '../tests/rig/client.ts'
import { Fleet } from '../tests/rig/fleet.ts'
import { OidcServer } from '../tests/rig/oidc-server.ts'
import { TestBrowser } from '../tests/rig/test-browser.ts'
import { signedInUser, type TestUser } from '../tests/rig/users.ts'

export class UsersStage implements AsyncDisposable {
  readonly fleet: Fleet
  readonly proxy: RoundRobinProxy
  readonly service: OidcServer
  /** On the database of the fleet, in this process. */
  readonly app: App

  private constructor(fleet: Fleet, proxy: RoundRobinProxy, service: OidcServer) {
    this.fleet = fleet
    this.proxy = proxy
    this.service = service
    this.app = fleet.app()
  }

  static async open(): Promise<UsersStage> {
    const proxy = await RoundRobinProxy.open(new Map())
    const service = await OidcServer.start({ redirectUris: [`${proxy.url}/api/oauth/oidc/callback`] })
    const fleet = await Fleet.start((demoModelUrl) => ({
      AUTH_MODE: 'password',
      PUBLIC_URL: proxy.url,
      OAUTH_CALLBACK: 'public',
      OAUTH_OIDC_API_URL: demoModelUrl,
      REQUESTS_PER_MINUTE: '100000',
      WORKER_CONCURRENCY: '16',
      ...service.env,
    }))
    proxy.serve(fleet.apis.map(({ port }) => port))
    return new UsersStage(fleet, proxy, service)
  }

  get urls(): [string, string] {
    const [a = '', b = ''] = this.fleet.apiUrls
    return [a, b]
  }

  /** Asks through the load balancer. */
  async user(email: string): Promise<TestUser> {
    return signedInUser({ app: this.app, client: new Client(this.proxy.url), url: this.proxy.url }, email)
  }

  /** From server A to the service; the address of the callback, at server B. */
  async there(browser: TestBrowser): Promise<URL> {
    const started = await browser.get(`${this.urls[0]}/api/oauth/oidc/start`)
    const back = await this.service.visit(started.headers.get('location') ?? `the start was answered with ${started.status}`)
    return new URL(back.pathname + back.search, this.urls[1])
  }

  async connect({ cookie }: TestUser): Promise<void> {
    const browser = new TestBrowser(cookie)
    const arrived = await browser.get(await this.there(browser))
    if (arrived.status !== 302) throw new Error(`the callback was answered with ${arrived.status}: ${await arrived.text()}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.durably[Symbol.asyncDispose]()
    await this.service.close()
    await this.proxy.close()
    await this.fleet.stop()
  }
}
