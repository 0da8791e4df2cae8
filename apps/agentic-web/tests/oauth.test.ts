// OAuth against a real OpenID provider, over two servers. What an attacker, a replay, an impatient user or a broken service would do.

import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { accessToken } from '../dist/oauth/access-token.js'
import { OauthClient } from '../dist/oauth/client.js'
import { ownPath } from '../dist/oauth/journey.js'
import { type Listening, listen } from '../dist/roles/listen.js'
import { serveApi } from '../dist/roles/serve-api.js'
import { KeyRing } from '../dist/secrets/key-ring.js'
import { resealAll } from '../dist/secrets/reseal.js'
import type { OauthList } from '../dist/wire/oauth.js'
import type { SettingsView } from '../dist/wire/settings.js'
import { testKey } from './rig/keys.ts'
import { OidcServer } from './rig/oidc-server.ts'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { TestBrowser } from './rig/test-browser.ts'
import { signedInUser, type TestUser } from './rig/users.ts'

/** Where the service sends browsers back to. Nobody listens there: the tests choose the server. */
const PUBLIC_URL = 'http://localhost:9'

let service: OidcServer
let one: OneProcess
/** Another server on the same database, which remembers nothing of what the first one does. The acceptance has real processes. */
let other: Listening
let user: TestUser
const logged: unknown[][] = []
beforeAll(async () => {
  for (const name of ['log', 'warn', 'error'] as const) vi.spyOn(console, name).mockImplementation((...words) => void logged.push(words))
  service = await OidcServer.start({ redirectUris: [`${PUBLIC_URL}/auth/callback`, `${PUBLIC_URL}/api/oauth/oidc/callback`] })
  const env = {
    AUTH_MODE: 'password',
    PUBLIC_URL,
    OAUTH_CALLBACK: 'public',
    OAUTH_OIDC_API_URL: `${PUBLIC_URL}/v1`,
    ...service.env,
  }
  one = await startOneProcess(env)
  other = await serveApi({ ...one.app, oauth: new OauthClient() }, { role: 'api', port: 0 })
  user = await signedInUser({ ...one, url: PUBLIC_URL }, 'ada@example.com')
}, 30_000)
afterAll(async () => {
  await other?.close()
  await one?.stop()
  await service?.close()
  vi.restoreAllMocks()
})

const start = (browser: TestBrowser, query = '', at = one.url) => browser.get(`${at}/api/oauth/oidc/start${query}`)
const tokens = () => service.count('authorization_code')

/** To the service and back; the address of the callback, at the server that is named. */
async function there(browser: TestBrowser, query = '', at = other.url): Promise<URL> {
  const response = await start(browser, query)
  expect(response.status).toBe(302)
  const back = await service.visit(response.headers.get('location') ?? '')
  expect(back.origin + back.pathname).toBe(`${PUBLIC_URL}/api/oauth/oidc/callback`)
  return new URL(back.pathname + back.search, at)
}

async function connections(): Promise<OauthList['providers']> {
  return (await user.client.request<OauthList>('GET', '/oauth')).body.providers
}

async function refusedWith(response: Response, code: string): Promise<void> {
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code, message: expect.stringMatching(/\w/) } })
}

describe('connecting', () => {
  test('starts on one server and ends on another, which was told nothing', async () => {
    expect(await connections()).toEqual([{ provider: 'oidc', label: 'your organisation', status: 'none', account: null }])
    const browser = new TestBrowser(user.cookie)
    const back = await there(browser, '?return_to=%2F%23settings')
    const arrived = await browser.get(back)
    expect([arrived.status, arrived.headers.get('location')]).toEqual([302, '/#settings'])
    expect(await connections()).toMatchObject([{ status: 'connected', account: 'ada@example.com' }])
    const [asked] = service.authorizations.slice(-1)
    expect(asked?.get('code_challenge_method')).toBe('S256')
    expect(asked?.get('nonce')).toMatch(/^.{20,}$/)
    expect(asked?.get('redirect_uri')).toBe(`${PUBLIC_URL}/api/oauth/oidc/callback`)
  })

  test('works once: the same address again is refused, and the service is not asked', async () => {
    const browser = new TestBrowser(user.cookie)
    const back = await there(browser)
    const before = tokens()
    const answers = await Promise.all([browser.get(back), browser.get(back), browser.get(new URL(back.pathname + back.search, one.url))])
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 400, 400])
    await refusedWith(await browser.get(back), 'state_used')
    expect(tokens()).toBe(before + 1)
  })

  test('after ten minutes, without a state, and with one that nobody made, it is refused', async () => {
    const browser = new TestBrowser(user.cookie)
    const back = await there(browser)
    const before = tokens()
    await one.app.db
      .updateTable('oauth_state')
      .set({ expires_at: Date.now() - 1 })
      .where('consumed_at', 'is', null)
      .execute()
    await refusedWith(await browser.get(back), 'state_expired')
    back.searchParams.set('state', 'made-up')
    await refusedWith(await browser.get(back), 'state_unknown')
    back.searchParams.delete('state')
    await refusedWith(await browser.get(back), 'state_unknown')
    expect(tokens()).toBe(before)
  })

  test('in another browser, or as another user, it is refused and nothing is stored; the first browser can still end it', async () => {
    const eve = await signedInUser({ ...one, url: PUBLIC_URL }, 'eve@example.com')
    const browser = new TestBrowser(user.cookie)
    const back = await there(browser)
    const before = tokens()
    await refusedWith(await new TestBrowser(eve.cookie).get(back), 'state_mismatch')
    await refusedWith(await new TestBrowser().get(back), 'state_mismatch')
    expect(tokens()).toBe(before)
    expect((await browser.get(back)).status).toBe(302)
    // The same browser, in which somebody else has signed in meanwhile.
    const shared = new TestBrowser(user.cookie)
    const late = await there(shared)
    await refusedWith(await shared.get(late, { Cookie: `${eve.cookie}; ${bindingOf(shared)}` }), 'state_mismatch')
    expect((await eve.client.request<OauthList>('GET', '/oauth')).body.providers[0]?.status).toBe('none')
  })

  test('a service that says no, that refuses the code, or that names another service', async () => {
    const browser = new TestBrowser(user.cookie)
    service.denies = true
    const denied = await there(browser)
    service.denies = false
    const page = await browser.get(denied, { Accept: 'text/html' })
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('access_denied')
    await refusedWith(await browser.get(denied), 'state_used')
    const forged = await there(browser)
    forged.searchParams.set('code', 'made-up')
    await refusedWith(await browser.get(forged), 'provider_error')
    const mixed = await there(browser)
    mixed.searchParams.set('iss', 'https://evil.example')
    await refusedWith(await browser.get(mixed), 'provider_error')
    const elsewhere = await there(browser)
    elsewhere.pathname = '/api/oauth/openai/callback'
    await refusedWith(await browser.get(elsewhere), 'state_mismatch')
    const scripted = await there(browser)
    scripted.searchParams.set('error', '<script>alert(1)</script>')
    expect(await (await browser.get(scripted, { Accept: 'text/html' })).text()).not.toContain('<script>')
  })

  test('needs a user, and is not started by a page of another site', async () => {
    expect((await start(new TestBrowser())).status).toBe(401)
    expect((await new TestBrowser(user.cookie).get(`${one.url}/api/oauth/oidc/start`, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
    expect((await new TestBrowser(user.cookie).get(`${one.url}/api/oauth/openai/start`)).status).toBe(404)
    expect((await start(new TestBrowser(user.cookie), '?purpose=login')).status).toBe(404)
  })

  test('the address to come back to is ours, whatever the request says', async () => {
    const browser = new TestBrowser(user.cookie)
    const back = await there(browser, `?return_to=${encodeURIComponent('https://evil.example/x')}`)
    expect((await browser.get(back)).headers.get('location')).toBe('/')
    for (const evil of [
      '//evil.example',
      '/\\evil.example',
      'https:evil',
      'javascript:alert(1)',
      '\t//evil.example',
      '/.//evil.example',
      '/a/..//evil.example',
      'http://localhost:9//evil.example',
      '/%09/evil.example',
      'settings',
    ])
      expect(new URL(ownPath(evil, PUBLIC_URL), PUBLIC_URL).origin).toBe(PUBLIC_URL)
    expect(ownPath('/a?b=c#d', PUBLIC_URL)).toBe('/a?b=c#d')
    expect(ownPath('//evil.example', PUBLIC_URL)).toBe('/')
  })

  test('tokens, codes and verifiers are in no log and not readable in the database', async () => {
    const rows = JSON.stringify([
      await one.app.db.selectFrom('auth').selectAll().execute(),
      await one.app.db.selectFrom('oauth_state').selectAll().execute(),
    ])
    const signal = AbortSignal.timeout(5000)
    const provider = one.app.config.oauth.providers.oidc
    const connection = provider && (await accessToken(one.app, user.userId, provider, signal))
    const secrets = [
      connection?.tokens.accessToken,
      connection?.tokens.refreshToken,
      ...service.authorizations.map((query) => query.get('state')),
    ]
    expect(secrets.length).toBeGreaterThan(3)
    for (const secret of secrets) {
      expect(secret).toMatch(/^.{20,}$/)
      expect(rows).not.toContain(secret)
      expect(JSON.stringify(logged)).not.toContain(secret)
    }
  })

  test('keys that are replaced while a user is on the way change nothing', async () => {
    const browser = new TestBrowser(user.cookie)
    const back = await there(browser, '', one.url)
    const ring = new KeyRing(`${testKey('k2', 2)},${testKey('k1', 1)}`)
    Object.assign(one.app, { keys: ring })
    expect(await resealAll(one.app.db, ring)).toMatchObject({ unreadable: 0 })
    expect((await browser.get(back)).status).toBe(302)
    const old = [
      ...(await one.app.db.selectFrom('auth').select('sealed').execute()),
      ...(await one.app.db.selectFrom('oauth_state').select('sealed').execute()),
    ]
    expect(old.filter(({ sealed }) => sealed.startsWith('k1.'))).toEqual([])
  })

  test('ends with a disconnect', async () => {
    expect((await user.client.request('DELETE', '/oauth/oidc')).status).toBe(204)
    expect((await user.client.request('DELETE', '/oauth/oidc')).status).toBe(404)
    expect((await connections())[0]?.status).toBe('none')
  })
})

describe('new tokens', () => {
  const provider = () => one.app.config.oauth.providers.oidc as NonNullable<typeof one.app.config.oauth.providers.oidc>
  const ask = () => accessToken(one.app, user.userId, provider(), AbortSignal.timeout(15_000))
  const expire = () => one.app.db.updateTable('auth').set({ expires_at: 0 }).execute()
  const connectAgain = async () => {
    const browser = new TestBrowser(user.cookie)
    expect((await browser.get(await there(browser, '', one.url))).status).toBe(302)
  }

  test('one request serves everybody who needs one', async () => {
    await connectAgain()
    await expire()
    const before = service.count('refresh_token')
    const got = await Promise.all(Array.from({ length: 12 }, ask))
    expect(new Set(got.map((connection) => connection?.tokens.accessToken)).size).toBe(1)
    expect(service.count('refresh_token')).toBe(before + 1)
    // The rotated refresh token was kept.
    await expire()
    await ask()
    expect(service.grants.at(-1)).toEqual({ type: 'refresh_token', succeeded: true })
  })

  test('who died with the lease is waited for, and then replaced', async () => {
    await expire()
    await one.app.db
      .updateTable('auth')
      .set({ refresh_lease: 'of the dead', refresh_lease_until: Date.now() + 700 })
      .execute()
    const began = Date.now()
    expect((await ask())?.tokens.accessToken).toBeTruthy()
    expect(Date.now() - began).toBeGreaterThan(600)
  })

  test('a service that is down is asked again after a pause, and the connection stays', async () => {
    await expire()
    service.isDown = true
    await expect(ask()).rejects.toMatchObject({ name: 'RefreshFailed', retryAfterMs: 5000 })
    service.isDown = false
    expect((await connections())[0]?.status).toBe('connected')
    await one.app.db.updateTable('auth').set({ refresh_lease_until: Date.now() }).execute()
    expect((await ask())?.tokens.accessToken).toBeTruthy()
  })

  test('a dead refresh token becomes “reconnect”, is asked for once, and a new connection helps', async () => {
    const row = await one.app.db.selectFrom('auth').selectAll().executeTakeFirstOrThrow()
    const { identityOf } = await import('../dist/secrets/key-ring.js')
    const sealed = one.app.keys.seal(
      JSON.stringify({ accessToken: 'a', refreshToken: 'dead' }),
      identityOf('auth', row.user_id, row.provider, row.version),
    )
    await one.app.db.updateTable('auth').set({ sealed, expires_at: 0 }).execute()
    const before = service.count('refresh_token')
    for (const outcome of await Promise.allSettled(Array.from({ length: 8 }, ask)))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'auth_expired', message: expect.stringContaining('reconnect') } })
    await expect(ask()).rejects.toMatchObject({ code: 'auth_expired' })
    expect(service.count('refresh_token')).toBe(before + 1)
    expect((await connections())[0]?.status).toBe('reconnect')
    await connectAgain()
    expect((await ask())?.status).toBe('connected')
  })
})

describe('a run with a connection instead of a key', () => {
  test('sends the token only where it belongs, replaces one that was withdrawn once, and then asks to reconnect', async () => {
    const seen: string[] = []
    let refuses = 1
    const model = createServer((req, res) => {
      seen.push(req.headers.authorization ?? 'nothing')
      if (refuses-- > 0) return void res.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":{"message":"no"}}')
      const chunk = {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: 'stop' }],
      }
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
    })
    const server = await listen(model, { port: 0, host: '127.0.0.1' })
    const { client } = user
    const run = async (base_url: string) => {
      const { body } = await client.request<SettingsView>('GET', '/settings')
      const change = { provider: 'openai-compatible', model: 'm', base_url }
      await client.request('PATCH', '/settings', { body: change, headers: { 'If-Match': `"${body.version}"` } })
      return client.follow(await client.send(await client.newSession(), 'hello'))
    }
    Object.assign(one.app.config.oauth.providers.oidc ?? {}, { apiUrl: `${server.url}/v1` })
    expect((await run(`${server.url}/other`)).error?.code).toBe('bad_key')
    expect(seen).toEqual(['nothing'])
    refuses = 1
    const before = service.count('refresh_token')
    expect(await run(`${server.url}/v1`)).toMatchObject({ done: 'completed' })
    expect(seen.slice(1).map((header) => header.slice(0, 7))).toEqual(['Bearer ', 'Bearer '])
    expect(seen[1]).not.toBe(seen[2])
    expect(service.count('refresh_token')).toBe(before + 1)
    refuses = 9
    expect(await run(`${server.url}/v1/`)).toMatchObject({
      done: 'failed',
      error: { code: 'auth_expired', message: expect.stringContaining('reconnect') },
    })
    expect(service.count('refresh_token')).toBe(before + 2)
    await server.close()
  }, 30_000)
})

function bindingOf(browser: TestBrowser): string {
  return browser.cookie('agentic-oauth')
}
