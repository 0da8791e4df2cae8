// F. Secrets at rest: a canary is planted, and looked for everywhere.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readConnection } from '../dist/db/auth.js'
import type { SettingsView } from '../dist/wire/settings.js'
import { TEST_KEYS, testKey } from '../tests/rig/keys.ts'
import type { TestUser } from '../tests/rig/users.ts'
import { change } from './any-instance.ts'
import type { UsersStage } from './users-stage.ts'

const CANARY = 'sk-canary-0123456789-ZYXWVUTSRQPONM-wxyz'

export function secrets(stage: () => UsersStage): void {
  const withKey = async (email: string, key: string): Promise<TestUser> => {
    const user = await stage().user(email)
    const base_url = stage().fleet.demoModelUrl
    await change(user.client, { provider: 'openai-compatible', model: 'm', base_url, compatible_api_key: key })
    return user
  }

  test('F40, F41 a key and tokens are in no row, no event and no log; the API shows four characters', async () => {
    const { fleet, app } = stage()
    const user = await withKey('canary@example.com', CANARY)
    await stage().connect(user)
    const session = await user.client.newSession()
    for (const message of ['what is 6 * 7', '!error 401', '!steps 2', 'run: env; cat /proc/self/environ', '!cut 1'])
      await user.client.follow(await user.client.send(session, message))
    const { body } = await user.client.request<SettingsView>('GET', '/settings')
    expect(body.compatible_api_key).toEqual({ last4: 'wxyz' })
    const connection = await readConnection(app.db, user.userId, 'oidc', app.keys)
    const tables = await fleet.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
    const dump = await Promise.all(tables.map(({ name }) => fleet.query(`SELECT t::text FROM "${name}" t`)))
    const text = JSON.stringify(dump) + fleet.log + JSON.stringify(await user.client.session(session))
    expect(text).toContain('6 * 7')
    expect(text).toContain(user.userId)
    for (const secret of [CANARY, connection?.tokens.accessToken, connection?.tokens.refreshToken])
      for (const form of formsOf(secret ?? '')) expect(text.includes(form), form.slice(0, 8)).toBe(false)
    expect(text).not.toContain(TEST_KEYS.slice(3))
  })

  test('F43 keys are replaced in a rolling deployment: no request and no run fails, and nothing is left of the old key', async () => {
    const { fleet, proxy } = stage()
    const user = await withKey('rotated@example.com', CANARY)
    await stage().connect(user)
    const [k1, k2] = [TEST_KEYS, testKey('k2', 2)]
    const failed: unknown[] = []
    let [requests, runs, isOver] = [0, 0, false]
    const load = (async () => {
      for (; !isOver; await pause(50)) {
        const { status, body } = await user.client.request<SettingsView>('GET', '/settings')
        const saved = await user.client.request('PATCH', '/settings', {
          body: { compatible_api_key: CANARY },
          headers: { 'If-Match': `"${body.version}"` },
        })
        if (status !== 200 || saved.status !== 200) failed.push(body, saved)
        requests += 2
      }
    })()
    const talk = (async () => {
      for (; !isOver; runs++) {
        const { done, error } = await user.client.follow(await user.client.send(await user.client.newSession(), '!fast 1'))
        if (done !== 'completed') failed.push(error)
      }
    })()
    const away = (ports: readonly number[]) => proxy.serve(ports)
    await fleet.rollOut({ APP_KEYS: `${k1},${k2}` }, away)
    await fleet.rollOut({ APP_KEYS: `${k2},${k1}` }, away)
    expect(await fleet.command('rotate-keys')).toContain('sealed with k2')
    const old =
      "SELECT 1 FROM (SELECT sealed FROM agent_secrets UNION ALL SELECT sealed FROM auth UNION ALL SELECT sealed FROM oauth_state) s WHERE sealed LIKE 'k1.%'"
    expect(await fleet.query(old)).toEqual([])
    await fleet.rollOut({ APP_KEYS: k2 }, away)
    isOver = true
    await Promise.all([load, talk])
    expect(failed).toEqual([])
    expect([requests > 10, runs > 3]).toEqual([true, true])
  })
}

/** Base64 of a text that begins before it looks different, depending on how many bytes come before. */
function formsOf(secret: string): string[] {
  expect(secret.length).toBeGreaterThan(15)
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((n) =>
    Buffer.concat([Buffer.alloc(n), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [secret, bytes.toString('hex'), ...base64]
}
