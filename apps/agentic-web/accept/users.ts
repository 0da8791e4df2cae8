// Groups E, F and G: users, their connections and their secrets, on a fleet of their own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../tests/rig/client.ts'
import { crossUser, prepareWorld, type World } from '../tests/rig/cross-user.ts'
import { oauth } from './oauth.ts'
import { secrets } from './secrets.ts'
import { UsersStage } from './users-stage.ts'

export function users(): void {
  describe('users', () => {
    let opened: UsersStage
    let world: World
    const stage = () => opened
    beforeAll(async () => {
      opened = await UsersStage.open()
      const { app, proxy } = opened
      world = await prepareWorld(app, new Client(proxy.url), proxy.url)
    }, 120_000)
    afterAll(() => opened?.[Symbol.asyncDispose]())

    oauth(stage)

    describe('G45', () => crossUser(() => world))

    test('G47 signing out on one server holds on the other at once, and the link of create-user works once on any', async () => {
      const { fleet, urls, proxy } = stage()
      const [link = ''] = /http\S+/.exec(await fleet.command('create-user', 'g47@example.com')) ?? []
      expect(link).toContain(`${proxy.url}/#invite=`)
      const body = { token: link.split('=')[1], password: 'a password of ten' }
      const accept = (url: string) => new Client(url).with({ Origin: proxy.url }).request('POST', '/auth/invite', { body })
      const answers = await Promise.all(urls.map(accept))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
      const cookie =
        answers
          .find(({ status }) => status === 200)
          ?.headers.get('set-cookie')
          ?.split(';', 1)[0] ?? ''
      const [a, b] = urls.map((url) => new Client(url).with({ Cookie: cookie, Origin: proxy.url }))
      expect((await b?.request('GET', '/me'))?.status).toBe(200)
      await a?.request('POST', '/auth/logout')
      expect((await b?.request('GET', '/me'))?.status).toBe(401)
    })

    secrets(stage)
  })
}
