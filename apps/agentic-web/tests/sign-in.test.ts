// Signing in with a password: what an attacker would try.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createApi } from '../dist/api/handler.js'
import { hashPassword, isPassword } from '../dist/auth/password.js'
import { createInvite } from '../dist/db/invites.js'
import { createUser } from '../dist/db/users.js'
import { serveApi } from '../dist/roles/serve-api.js'
import type { MeView } from '../dist/wire/account.js'
import { Client } from './rig/client.ts'
import { type OneProcess, startOneProcess } from './rig/one-process.ts'
import { cookieOf, signedInUser } from './rig/users.ts'

const PASSWORD = 'a long password'

let one: OneProcess
/** A browser without a cookie. */
let stranger: Client
let hash: string
beforeAll(async () => {
  one = await startOneProcess({ AUTH_MODE: 'password' })
  stranger = one.client.with({ Origin: one.url })
  hash = await hashPassword(PASSWORD)
}, 30_000)
afterAll(() => one?.stop())

const accept = (token: string, password = PASSWORD) => stranger.request<MeView>('POST', '/auth/invite', { body: { token, password } })
const signIn = (email: string, password: string, client = stranger) =>
  client.request<MeView>('POST', '/auth/login', { body: { email, password } })
/** A user with the password, without the work of hashing it again. */
const known = async (email: string) => {
  const { userId } = await createUser(one.app.db, email)
  await one.app.db.updateTable('agent_users').set({ password_hash: hash }).where('user_id', '=', userId).execute()
}
const invited = async (email: string) => createInvite(one.app.db, (await createUser(one.app.db, email)).userId)

describe('the link that works once', () => {
  test('sets the password, signs in, and is used up', async () => {
    const token = await invited('Ada@Example.com ')
    const first = await accept(token)
    expect(first).toMatchObject({ status: 200, body: { email: 'ada@example.com', mode: 'password' } })
    expect(await accept(token, 'another password')).toMatchObject({ status: 400, body: { error: { code: 'invalid_link' } } })
    expect((await signIn('ada@example.com', PASSWORD)).status).toBe(200)
    expect((await one.client.with({ Cookie: cookieOf(first) }).request('GET', '/me')).body).toEqual(first.body)
  })

  test('of two who use it at the same time, one gets in', async () => {
    const token = await invited('twice@example.com')
    const answers = await Promise.all([accept(token, 'password one'), accept(token, 'password two')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('one that is too old, that was replaced, or that nobody made, is refused; a weak password costs nothing', async () => {
    const old = await invited('late@example.com')
    await one.app.db
      .updateTable('agent_invites')
      .set({ expires_at: new Date(Date.now() - 1).toISOString() })
      .execute()
    expect((await accept(old)).status).toBe(400)
    const first = await invited('late@example.com')
    const second = await invited('late@example.com')
    expect((await accept(first)).status).toBe(400)
    expect((await accept('x'.repeat(43))).status).toBe(400)
    expect(await accept(second, 'short')).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('10') } } })
    expect((await accept(second)).status).toBe(200)
  })

  test('a new one is a new password: whoever was signed in no longer is', async () => {
    const { client: before } = await signedInUser(one, 'reset@example.com')
    expect((await before.request('GET', '/me')).status).toBe(200)
    await accept(await invited('reset@example.com'), 'quite another one')
    expect((await before.request('GET', '/me')).status).toBe(401)
  })
})

describe('the session', () => {
  test('its cookie cannot be read by scripts, and the database has its hash only', async () => {
    const answer = await accept(await invited('cookie@example.com'))
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^agentic=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    const rows = await one.app.db.selectFrom('agent_web_sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(cookieOf(answer).slice('agentic='.length))
  })

  test('is a new one at each sign-in, and the one that the browser had ends', async () => {
    await known('fixed@example.com')
    const { cookie: planted, client: victim } = await signedInUser(one, 'fixed@example.com')
    const after = cookieOf(await signIn('fixed@example.com', PASSWORD, victim))
    expect(after).not.toBe(planted)
    expect((await victim.request('GET', '/me')).status).toBe(401)
    expect((await stranger.with({ Cookie: after }).request('GET', '/me')).status).toBe(200)
  })

  test('ends on every server at once, in one browser or in all', async () => {
    const other = await serveApi(one.app, { role: 'api', port: 0 })
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => signedInUser(one, 'everywhere@example.com')))
    const statuses = () =>
      Promise.all([a, b, c].map(async (user) => (await fetch(`${other.url}/api/me`, { headers: { Cookie: user?.cookie ?? '' } })).status))
    expect(await statuses()).toEqual([200, 200, 200])
    const out = await a?.client.request('POST', '/auth/logout')
    expect(out?.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await statuses()).toEqual([401, 200, 200])
    await b?.client.request('POST', '/auth/logout', { body: { everywhere: true } })
    expect(await statuses()).toEqual([401, 401, 401])
    await other.close()
  })

  test('slides while it is used, ends when it is not, and after three months in any case', async () => {
    const { client, userId } = await signedInUser(one, 'slides@example.com')
    const row = one.app.db.selectFrom('agent_web_sessions').select('expires_at').where('user_id', '=', userId)
    const set = (values: Record<string, string>) =>
      one.app.db.updateTable('agent_web_sessions').set(values).where('user_id', '=', userId).execute()
    const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    await set({ last_seen_at: daysFromNow(-10), expires_at: daysFromNow(4) })
    expect((await client.request('GET', '/me')).status).toBe(200)
    expect((await row.executeTakeFirstOrThrow()).expires_at > daysFromNow(13.9)).toBe(true)
    await set({ last_seen_at: daysFromNow(-1), created_at: daysFromNow(-89) })
    expect((await client.request('GET', '/me')).status).toBe(200)
    expect((await row.executeTakeFirstOrThrow()).expires_at < daysFromNow(1.1)).toBe(true)
    await set({ expires_at: daysFromNow(-0.001) })
    expect(await client.request('GET', '/me')).toMatchObject({ status: 401, body: { error: { code: 'signed_out' } } })
  })

  test('of a user who was disabled is worth nothing', async () => {
    const { client, userId } = await signedInUser(one, 'gone@example.com')
    await one.app.db.updateTable('agent_users').set({ disabled_at: new Date().toISOString() }).where('user_id', '=', userId).execute()
    expect((await client.request('GET', '/me')).status).toBe(401)
  })

  test('a password that is changed signs all other browsers out', async () => {
    await known('change@example.com')
    const { client: other } = await signedInUser(one, 'change@example.com')
    const { client: mine } = await signedInUser(one, 'change@example.com')
    const change = (current: string) => mine.request('POST', '/auth/password', { body: { current, password: 'the next password' } })
    expect(await change('not mine')).toMatchObject({ status: 401, body: { error: { code: 'wrong_password' } } })
    const changed = await change(PASSWORD)
    expect(changed.status).toBe(200)
    expect((await other.request('GET', '/me')).status).toBe(401)
    expect((await stranger.with({ Cookie: cookieOf(changed) }).request('GET', '/me')).status).toBe(200)
  })
})

describe('guessing', () => {
  test('five attempts for a user, then none, also with the right password; those that come together do not pass together', async () => {
    await known('guessed@example.com')
    const attempts = await Promise.all(
      Array.from({ length: 8 }, (_, i) => signIn(i % 2 ? 'guessed@example.com' : ' Guessed@Example.com', 'wrong')),
    )
    expect(attempts.map(({ status }) => status).sort()).toEqual([...Array(5).fill(401), ...Array(3).fill(429)])
    const right = await signIn('guessed@example.com', PASSWORD)
    expect(right).toMatchObject({ status: 429, body: { error: { code: 'too_many_attempts', message: expect.stringContaining('min') } } })
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('many users from one place are limited too, whatever the client says about its address', async () => {
    await sql`UPDATE agent_counters SET n = 100 WHERE subject = 'sign-in/address/127.0.0.1'`.execute(one.app.db)
    const headers = { 'X-Forwarded-For': '10.0.0.1', 'X-Agentic-Address': '10.0.0.2' }
    expect((await signIn('somebody@example.com', 'wrong', stranger.with(headers))).status).toBe(429)
    await sql`DELETE FROM agent_counters`.execute(one.app.db)
  })

  test('a user who does not exist is answered as one with another password', async () => {
    const [known, unknown] = [await signIn('ada@example.com', 'wrong'), await signIn('nobody@example.com', 'wrong')]
    expect(unknown).toEqual({ ...known, headers: unknown.headers })
    // The local user has no address and no password.
    expect((await signIn('local', '')).status).toBe(401)
  })
})

describe('pages of other sites', () => {
  test('a request that changes something needs our Origin; there is no CORS', async () => {
    const { cookie } = await signedInUser(one, 'origin@example.com')
    for (const Origin of ['https://evil.example', 'null', `${one.url}.evil.example`, undefined]) {
      const answer = await one.client.request('POST', '/sessions', { headers: { Cookie: cookie, ...(Origin && { Origin }) } })
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'cross_origin' } } })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
    const preflight = await fetch(`${one.url}/api/sessions`, { method: 'OPTIONS', headers: { Origin: 'https://evil.example' } })
    expect(preflight.status).toBe(403)
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('a name that somebody lets point to this machine is not answered', async () => {
    const hosts = new Set(['localhost'])
    const { handle } = createApi({ app: one.app, role: 'api', uiFolder: '', hosts, report() {} })
    expect((await handle(new Request('http://localhost:3000/api/auth'))).status).toBe(200)
    for (const path of ['/api/auth', '/api/health', '/'])
      expect((await handle(new Request(`http://evil.example:3000${path}`))).status).toBe(403)
  })

  test('the page may run files of its own only, and nobody may frame it', async () => {
    const uiFolder = mkdtempSync(join(tmpdir(), 'agentic-ui-'))
    onTestFinished(() => rmSync(uiFolder, { recursive: true }))
    writeFileSync(join(uiFolder, 'index.html'), '<!doctype html>')
    const api = createApi({ app: one.app, role: 'api', uiFolder, hosts: new Set(['*']), report() {} })
    const page = await api.handle(new Request('http://localhost/'))
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*script-src 'self'; style-src 'self'.*frame-ancestors 'none'/,
    )
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    const data = await fetch(`${one.url}/api/auth`)
    expect(data.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(data.headers.get('x-content-type-options')).toBe('nosniff')
  })
})

test('a password of nobody takes as much work as one of somebody', async () => {
  const cpuOf = async (work: () => Promise<unknown>) => {
    const before = process.cpuUsage().user
    await work()
    return process.cpuUsage().user - before
  }
  const [somebody, nobody] = [await cpuOf(() => isPassword('wrong', hash)), await cpuOf(() => isPassword('wrong', null))]
  expect(nobody / somebody).toBeGreaterThan(0.3)
})

test('behind https the cookie is bound to the host, and only the public address is an Origin', async () => {
  const app = {
    ...one.app,
    config: { ...one.app.config, auth: { ...one.app.config.auth, publicUrl: 'https://chat.example.com', isSecure: true } },
  }
  const server = await serveApi(app, { role: 'api', port: 0 })
  const client = new Client(server.url)
  const signIn = (Origin: string) =>
    client.request('POST', '/auth/login', { body: { email: 'ada@example.com', password: PASSWORD }, headers: { Origin } })
  const answer = await signIn('https://chat.example.com')
  expect(answer.headers.get('set-cookie')).toMatch(/^__Host-agentic=.*; Secure$/)
  expect(answer.headers.get('strict-transport-security')).toContain('max-age')
  expect((await signIn('http://chat.example.com')).status).toBe(403)
  expect((await signIn(server.url)).status).toBe(403)
  expect((await client.request('GET', '/me', { headers: { Cookie: cookieOf(answer) } })).status).toBe(200)
  // The name that http uses is not taken here: a page of a sister domain could have set it.
  expect((await client.request('GET', '/me', { headers: { Cookie: cookieOf(answer).replace('__Host-', '') } })).status).toBe(401)
  await server.close()
})

test('without a sign-in the server is for this machine alone', async () => {
  const app = { ...one.app, config: { ...one.app.config, auth: { ...one.app.config.auth, mode: 'dev' as const } } }
  for (const [name, value] of [
    ['HOST', '0.0.0.0'],
    ['ALLOWED_HOSTS', '*'],
    ['ALLOWED_HOSTS', 'chat.example.com'],
  ] as const) {
    process.env[name] = value
    await expect(serveApi(app, { role: 'api', port: 0 })).rejects.toThrow(/AUTH_MODE=dev .* AUTH_MODE=password/)
    delete process.env[name]
  }
})
