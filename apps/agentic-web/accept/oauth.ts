// E. OAuth: the state is in the database, so the way back may lead to any server, once.
import { expect, test } from 'vitest'
import { authIdentity } from '../dist/db/auth.js'
import type { OauthList } from '../dist/wire/oauth.js'
import { TestBrowser } from '../tests/rig/test-browser.ts'
import type { TestUser } from '../tests/rig/users.ts'
import { change } from './any-instance.ts'
import type { UsersStage } from './users-stage.ts'

export function oauth(stage: () => UsersStage): void {
  const status = async ({ client }: TestUser) => (await client.request<OauthList>('GET', '/oauth')).body.providers[0]?.status
  const refusal = async (response: Response) => [response.status, ((await response.json()) as { error: { code: string } }).error.code]

  test('E31 started on one server, both are replaced, ended on the other', async () => {
    const { fleet } = stage()
    const user = await stage().user('e31@example.com')
    const browser = new TestBrowser(user.cookie)
    const back = await stage().there(browser)
    await fleet.killApis()
    await fleet.restartApis()
    expect((await browser.get(back)).status).toBe(302)
    expect(await status(user)).toBe('connected')
  })

  test('E32 the same callback again, on both servers at once, is refused, and the service is asked once', async () => {
    const { service, urls } = stage()
    const user = await stage().user('e32@example.com')
    const browser = new TestBrowser(user.cookie)
    const back = await stage().there(browser)
    const before = service.count('authorization_code')
    const all = Array.from({ length: 10 }, (_, i) => browser.get(new URL(back.pathname + back.search, urls[i % 2])))
    const statuses = (await Promise.all(all)).map((response) => response.status)
    expect(statuses.sort()).toEqual([302, ...Array(9).fill(400)])
    expect(await refusal(await browser.get(back))).toEqual([400, 'state_used'])
    expect(service.count('authorization_code')).toBe(before + 1)
  })

  test('E33 too late, unknown, and a user who says no', async () => {
    const { service, fleet } = stage()
    const user = await stage().user('e33@example.com')
    const browser = new TestBrowser(user.cookie)
    const before = service.count('authorization_code')
    const late = await stage().there(browser)
    await fleet.query('UPDATE oauth_state SET expires_at = 1 WHERE consumed_at IS NULL')
    expect(await refusal(await browser.get(late))).toEqual([400, 'state_expired'])
    late.searchParams.set('state', 'unknown')
    expect(await refusal(await browser.get(late))).toEqual([400, 'state_unknown'])
    service.denies = true
    const denied = await stage().there(browser)
    service.denies = false
    expect(await refusal(await browser.get(denied))).toEqual([400, 'provider_error'])
    expect(await refusal(await browser.get(denied))).toEqual([400, 'state_used'])
    expect(service.count('authorization_code')).toBe(before)
    expect(await status(user)).toBe('none')
  })

  test('E34 in another browser it is refused, and nothing is stored for either user', async () => {
    const [user, eve] = [await stage().user('e34@example.com'), await stage().user('eve@example.com')]
    const back = await stage().there(new TestBrowser(user.cookie))
    expect(await refusal(await new TestBrowser(eve.cookie).get(back))).toEqual([400, 'state_mismatch'])
    expect([await status(user), await status(eve)]).toEqual(['none', 'none'])
  })

  test('E39 one request for new tokens serves both workers; a dead one is asked for once, and every run says what to do', async () => {
    const { service, fleet, app } = stage()
    const user = await stage().user('e39@example.com')
    await stage().connect(user)
    await change(user.client, { provider: 'openai-compatible', model: 'm', base_url: fleet.demoModelUrl })
    const ask = async () => {
      const sessions = await Promise.all(Array.from({ length: 16 }, () => user.client.newSession()))
      const runs = await Promise.all(sessions.map((session) => user.client.send(session, '!fast 1')))
      return Promise.all(runs.map((run) => user.client.follow(run)))
    }
    const before = service.count('refresh_token')
    await fleet.query('UPDATE auth SET expires_at = 0 WHERE user_id = $1', [user.userId])
    for (const { done } of await ask()) expect(done).toBe('completed')
    expect(service.count('refresh_token')).toBe(before + 1)

    const [row] = await fleet.query<{ user_id: string; provider: string; version: number }>('SELECT * FROM auth WHERE user_id = $1', [
      user.userId,
    ])
    if (!row) throw new Error('the connection is gone')
    const sealed = app.keys.seal(JSON.stringify({ accessToken: 'old', refreshToken: 'dead' }), authIdentity(row))
    await fleet.query('UPDATE auth SET expires_at = 0, sealed = $2 WHERE user_id = $1', [user.userId, sealed])
    for (const { error } of await ask())
      expect(error).toMatchObject({ code: 'auth_expired', message: expect.stringContaining('reconnect') })
    expect(service.count('refresh_token')).toBe(before + 2)
    expect(await status(user)).toBe('reconnect')
  })
}
