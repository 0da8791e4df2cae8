// Every route of the API, asked by its owner, by another user, by nobody and with a session that has ended. The routes come from the router: one without an
// entry here fails.
import { describe, expect, test } from 'vitest'
import { createApi } from '../../dist/api/handler.js'
import type { App } from '../../dist/app.js'
import { hashPassword } from '../../dist/auth/password.js'
import { storeArtifact } from '../../dist/db/artifacts.js'
import { connect } from '../../dist/db/auth.js'
import type { SettingsView } from '../../dist/wire/settings.js'
import type { Client } from './client.ts'
import { signedInUser, type TestUser } from './users.ts'

/** What belongs to the first user. */
interface Owned {
  session: string
  /** Has a file, and one run that has ended. */
  run: string
  /** Never ends by itself. */
  active: string
  artifact: string
}

interface Entry {
  /** The path for these things of the first user. */
  path: (owned: Owned) => string
  body?: (owned: Owned) => unknown
  /** What the owner gets. */
  owner: number
  /** The path names a thing of one user, which does not exist for another one (404). Otherwise everybody has one of their own. */
  isOwned: boolean
  headers?: Record<string, string>
  /** What the other user gets where everybody has one of their own, if it is not the same. */
  other?: number
  /** Words that the owner sees and the other user must not. */
  leaks?: (owned: Owned) => string[]
}

const own = (path: Entry['path'], owner: number, body?: Entry['body']): Entry => ({ path, owner, isOwned: true, ...(body && { body }) })

/** Anybody may ask these. */
const PUBLIC = [
  'GET /api/health',
  'GET /api/ready',
  'GET /api/auth',
  'POST /api/auth/logout',
  'POST /api/auth/login',
  'POST /api/auth/invite',
  // Their tests are in oauth.test.ts: nobody who did not start can end it.
  'GET /api/oauth/:provider/callback',
  'GET /auth/callback',
]

const ENTRIES: Record<string, Entry> = {
  'GET /api/me': { path: () => '/me', owner: 200, isOwned: false },
  'POST /api/runs': own(
    () => '/runs',
    201,
    ({ session }) => ({ session_id: session, message: '!fast 1' }),
  ),
  'GET /api/runs': { path: () => '/runs', owner: 200, isOwned: false, leaks: ({ run, session }) => [run, session] },
  'GET /api/runs/:id': own(({ run }) => `/runs/${run}`, 200),
  'POST /api/runs/:id/cancel': own(({ active }) => `/runs/${active}/cancel`, 202),
  // It was cancelled by the entry before.
  'POST /api/runs/:id/retry': own(({ active }) => `/runs/${active}/retry`, 201),
  // Nobody was asked about this step: the run exists for its owner, and the question does not.
  'POST /api/runs/:id/approvals/:step': own(
    ({ active }) => `/runs/${active}/approvals/tool-1`,
    404,
    () => ({ decision: 'approve' }),
  ),
  'GET /api/runs/:id/events': own(({ run }) => `/runs/${run}/events`, 200),
  'GET /api/sessions': { path: () => '/sessions', owner: 200, isOwned: false, leaks: ({ session }) => [session] },
  'POST /api/sessions': { path: () => '/sessions', owner: 201, isOwned: false },
  'GET /api/sessions/:id': own(({ session }) => `/sessions/${session}`, 200),
  'PATCH /api/sessions/:id': own(
    ({ session }) => `/sessions/${session}`,
    200,
    () => ({ title: 'named' }),
  ),
  'POST /api/sessions/:id/cancel': own(({ session }) => `/sessions/${session}/cancel`, 202),
  'GET /api/sessions/:id/files': own(({ session }) => `/sessions/${session}/files`, 200),
  'GET /api/sessions/:id/files/:path{.+}': own(({ session }) => `/sessions/${session}/files/mine.txt`, 200),
  'GET /api/artifacts/:id': own(({ artifact }) => `/artifacts/${artifact}`, 200),
  'GET /api/settings': { path: () => '/settings', owner: 200, isOwned: false, leaks: () => ['"last4":"-one"'] },
  'PATCH /api/settings': {
    path: () => '/settings',
    body: () => ({ reasoning: 'low' }),
    headers: { 'If-Match': '"2"' },
    owner: 200,
    other: 412,
    isOwned: false,
  },
  'POST /api/chat/:sessionId': own(
    ({ session }) => `/chat/${session}`,
    200,
    () => ({ message: '!fast 1' }),
  ),
  'GET /api/oauth': { path: () => '/oauth', owner: 200, isOwned: false, leaks: () => ['account-of-the-first'] },
  'GET /api/oauth/:provider/start': { path: () => '/oauth/oidc/start?purpose=connect', owner: 302, isOwned: false },
  'DELETE /api/oauth/:provider': own(() => '/oauth/oidc', 204),
  // Then nothing is left.
  'DELETE /api/sessions/:id': own(({ session }) => `/sessions/${session}`, 204),
  // It signs the owner out.
  'POST /api/auth/password': {
    path: () => '/auth/password',
    body: () => ({ current: PASSWORD, password: 'another long one' }),
    owner: 200,
    other: 401,
    isOwned: false,
  },
}

const PASSWORD = 'of the first user'
const NEVER = '01ARZ3NDEKTSV4RRFFQ69G5FAV'

export interface World {
  /** On the database of the servers that `client` asks. */
  app: App
  client: Client
  /** Of the page. */
  origin: string
  first: TestUser
  second: TestUser
  owned: Owned
}

/** The service `oidc` must be configured, with an address for its tokens. */
export async function prepareWorld(app: App, client: Client, origin: string): Promise<World> {
  const first = await signedInUser({ app, client, url: origin }, 'first@example.com')
  const second = await signedInUser({ app, client, url: origin }, 'second@example.com')
  const session = await first.client.newSession()
  const run = await first.client.send(session, 'write mine.txt: of the first user')
  await first.client.follow(run)
  const artifact = (await storeArtifact(app.db, { userId: first.userId, sessionId: session, runId: run }, 'long')).id
  const { body } = await first.client.request<SettingsView>('GET', '/settings')
  const withKey = { provider: 'openai-compatible', model: 'm', base_url: 'http://127.0.0.1:9/v1', compatible_api_key: 'key-of-user-one' }
  await first.client.request('PATCH', '/settings', { body: withKey, headers: { 'If-Match': `"${body.version}"` } })
  const demo = { provider: 'demo', model: 'demo-scripted-1' }
  await first.client.request('PATCH', '/settings', { body: demo, headers: { 'If-Match': `"${body.version + 1}"` } })
  const tokens = { accessToken: 'a', refreshToken: 'r', expiresAt: null }
  await connect(app.db, first.userId, { provider: 'oidc', account: 'account-of-the-first', tokens }, app.keys)
  const active = await first.client.send(await first.client.newSession(), '!silent')
  const password_hash = await hashPassword(PASSWORD)
  await app.db.updateTable('agent_users').set({ password_hash }).where('user_id', '=', first.userId).execute()
  return { app, client, origin, first, second, owned: { session, run, active, artifact } }
}

async function ask(
  client: Client,
  route: string,
  { path, body, headers = {} }: Entry,
  owned: Owned,
): Promise<{ status: number; text: string }> {
  const [method = ''] = route.split(' ')
  const response = await client.fetch(path(owned), { method, headers, ...(body && { body: JSON.stringify(body(owned)) }) })
  return { status: response.status, text: await response.text() }
}

export function crossUser(world: () => World): void {
  const at = () => ({ ...world(), url: world().origin })

  test('every route of the router has an entry here, and every entry a route', () => {
    // With the callback of one's own machine, which the other kind does not have.
    const { config, ...rest } = world().app
    const app = { ...rest, config: { ...config, oauth: { ...config.oauth, callback: 'loopback' as const } } }
    const { routes } = createApi({ app, role: 'api', uiFolder: '', hosts: new Set(), report() {} })
    const known = [...new Set(routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))]
    expect(known.filter((route) => route !== 'GET /*').sort()).toEqual([...PUBLIC, ...Object.keys(ENTRIES)].sort())
  })

  describe.each(Object.entries(ENTRIES))('%s', (route, entry) => {
    test('nobody, and a session that has ended or was made up: 401', async () => {
      const ended = await signedInUser(at(), 'first@example.com')
      await ended.client.request('POST', '/auth/logout')
      const made = world().client.with({ Cookie: `agentic=${'x'.repeat(43)}`, Origin: world().origin })
      for (const client of [world().client.with({ Origin: world().origin }), ended.client, made])
        expect(await ask(client, route, entry, world().owned)).toMatchObject({ status: 401, text: expect.stringContaining('signed_out') })
    })

    test(
      entry.isOwned ? 'another user: 404, as for something that never was' : 'another user: one of their own, and nothing of the first',
      async () => {
        const { second, owned } = world()
        const answer = await ask(second.client, route, entry, owned)
        for (const word of entry.leaks?.(owned) ?? []) expect(answer.text).not.toContain(word)
        if (!entry.isOwned) return expect(answer.status).toBe(entry.other ?? entry.owner)
        const { path, body } = entry
        const unknown: Owned = { session: 'f'.repeat(32), run: NEVER, active: NEVER, artifact: 'f'.repeat(32) }
        const never = await ask(second.client, route, { path, owner: 0, isOwned: true, ...(body && { body }) }, unknown)
        expect(answer.status).toBe(404)
        expect(answer).toEqual(never)
      },
    )

    test('the owner', async () => {
      const { first, owned } = world()
      const { status, text } = await ask(first.client, route, entry, owned)
      expect(status).toBe(entry.owner)
      for (const word of entry.leaks?.(owned) ?? []) expect(text).toContain(word)
    })
  })

  test('the same Idempotency-Key of two users makes two runs', async () => {
    const again = await signedInUser(at(), 'first@example.com')
    const send = async ({ client }: TestUser) => {
      const body = { session_id: await client.newSession(), message: '!fast 1' }
      return client.request<{ run_id: string }>('POST', '/runs', { body, headers: { 'Idempotency-Key': 'the same' } })
    }
    const [a, b] = await Promise.all([send(again), send(world().second)])
    expect([a.status, b.status]).toEqual([201, 201])
    expect(a.body.run_id).not.toBe(b.body.run_id)
  })

  test('the database takes no row of one user in the session of another', async () => {
    const { second, app } = world()
    const session = await (await signedInUser(at(), 'first@example.com')).client.newSession()
    const place = { session_id: session, user_id: second.userId, run_id: 'r', turn: 1, created_at: '' }
    const { db } = app
    const turn = db.insertInto('agent_turns').values({ ...place, input_text: '', model: null, input_tokens: 0, output_tokens: 0 })
    const message = db.insertInto('agent_messages').values({ ...place, position: 0, role: 'user', parts: '[]', interrupted: 0 })
    const file = db
      .insertInto('agent_files')
      .values({ session_id: session, user_id: second.userId, path: 'a', content: new Uint8Array(), bytes: 0, updated_at: '' })
    for (const insert of [turn, message, file]) await expect(insert.execute()).rejects.toThrow(/foreign key/i)
    await expect(storeArtifact(db, { userId: second.userId, sessionId: session, runId: 'r' }, 'x')).rejects.toThrow(/foreign key/i)
  })
}
