// Signing in at another service. It comes back to the path of one's own machine here; oauth.test.ts has the public one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createUser } from '../dist/db/users.js'
import type { MeView } from '../dist/wire/account.js'
import { OidcServer } from './rig/oidc-server.ts'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { TestBrowser } from './rig/test-browser.ts'

const PUBLIC_URL = 'http://localhost:9'

let service: OidcServer
let one: OneProcess
beforeAll(async () => {
  service = await OidcServer.start({ redirectUris: [`${PUBLIC_URL}/auth/callback`] })
  one = await startOneProcess({ AUTH_MODE: 'oidc', PUBLIC_URL, ...service.env })
}, 30_000)
afterAll(() => Promise.all([one?.stop(), service?.close()]))

async function signIn(account: Partial<OidcServer['account']>, browser = new TestBrowser(), url = one.url): Promise<Response> {
  service.account = { id: 'subject-1', email: 'ada@example.com', isVerified: true, ...account }
  const started = await browser.get(`${url}/api/oauth/oidc/start?purpose=login`)
  const back = await service.visit(started.headers.get('location') ?? '')
  expect(back.pathname).toBe('/auth/callback')
  return browser.get(new URL(back.pathname + back.search, url))
}

async function me(browser: TestBrowser): Promise<MeView | number> {
  const response = await browser.get(`${one.url}/api/me`)
  return response.ok ? ((await response.json()) as MeView) : response.status
}

describe('who is let in', () => {
  test('nobody who was not invited, and nobody whose address the service does not vouch for', async () => {
    const stranger = await signIn({})
    expect(stranger.status).toBe(403)
    expect(await stranger.json()).toMatchObject({ error: { code: 'not_a_user', message: expect.stringContaining('create-user') } })
    await createUser(one.app.db, 'ada@example.com')
    // Anybody can make an account with her address there.
    expect((await signIn({ id: 'eve', isVerified: false })).status).toBe(403)
    expect(await one.app.db.selectFrom('agent_identities').selectAll().execute()).toEqual([])
  })

  test('one who was invited, in a session that is new, and as the same user when the address changes', async () => {
    const browser = new TestBrowser(`agentic=${'p'.repeat(43)}`)
    const arrived = await signIn({}, browser)
    expect([arrived.status, arrived.headers.get('location')]).toEqual([302, '/'])
    const first = await me(browser)
    expect(first).toMatchObject({ email: 'ada@example.com', mode: 'oidc' })
    const again = new TestBrowser()
    await signIn({ email: 'ada@elsewhere.example' }, again)
    expect(await me(again)).toEqual(first)
    // Who has the address later is somebody else.
    await createUser(one.app.db, 'ada@elsewhere.example')
    const later = new TestBrowser()
    await signIn({ id: 'subject-2', email: 'ada@elsewhere.example' }, later)
    expect(await me(later)).not.toMatchObject({ user_id: (first as MeView).user_id })
  })

  test('not a user who was disabled, and nobody by a password', async () => {
    await one.app.db.updateTable('agent_users').set({ disabled_at: 'now' }).where('email', '=', 'ada@example.com').execute()
    expect((await signIn({})).status).toBe(403)
    const login = await one.client.request('POST', '/auth/login', { body: { email: 'a', password: 'b' }, headers: { Origin: PUBLIC_URL } })
    expect(login.status).toBe(401)
  })

  test('everybody whom the service vouches for, if the operator says so', async () => {
    const { config } = one.app
    Object.assign(config.auth, { isOpenToAll: true })
    expect((await signIn({ id: 'new', email: 'new@example.com' })).status).toBe(302)
    expect((await signIn({ id: 'unverified', email: 'other@example.com', isVerified: false })).status).toBe(403)
    Object.assign(config.auth, { isOpenToAll: false })
  })
})

test('signing in ends in the browser in which it was started', async () => {
  // Somebody could otherwise be signed in as the attacker, and tell secrets to the wrong account.
  service.account = { id: 'new', email: 'new@example.com', isVerified: true }
  const started = await new TestBrowser().get(`${one.url}/api/oauth/oidc/start?purpose=login`)
  const back = await service.visit(started.headers.get('location') ?? '')
  const victim = await new TestBrowser().get(new URL(back.pathname + back.search, one.url))
  expect(victim.status).toBe(400)
  expect(victim.headers.get('set-cookie')).toBeNull()
})
