// I. The page, on the fleet. What it is made of is tested in ui/tests; here it must hold with several servers.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bound, change } from './any-instance.ts'
import { numbered, type Stage } from './stage.ts'

export function page(stage: () => Stage): void {
  test('I54 reloaded at ten moments of one answer: the text is whole each time, and the state is never stuck', async () => {
    const { client, counted } = bound(stage())
    const session = await client.newSession()
    await client.send(session, '!slow 150 i54')
    const tab = await stage().openSession(session)
    const words = async () =>
      (await tab.getByRole('article', { name: 'Answer' }).locator('.markdown').allTextContents()).join('').match(/word-\d+/g) ?? []
    let reloads = 0
    for (; reloads < 10; reloads++) {
      await pause((reloads * 379) % 900)
      const before = (await words()).length
      await tab.reload()
      await expect.poll(async () => (await words()).length, { timeout: 30_000 }).toBeGreaterThanOrEqual(before)
      const now = await words()
      expect(now).toEqual(numbered(now.length).trim().split(' ').filter(Boolean))
    }
    await tab.locator('.pill', { hasText: 'Ready' }).first().waitFor()
    expect(await words()).toEqual(numbered(150).trim().split(' '))
    counted('I54 reloads', reloads)
    await tab.close()
  })

  test.each([
    ['!error 401', 'Incorrect API key'],
    ['!error html', 'no valid answer'],
    ['!cut 9', 'no valid answer'],
    ['!loop', 'stopped'],
  ])('I what a model’s server does wrong is said on the page: %s', async (message, words) => {
    const { client } = stage()
    const session = await client.newSession()
    await client.send(session, message)
    const tab = await stage().openSession(session)
    // Whether the page saw the run fail, or came later.
    await tab.getByRole('article', { name: 'Answer' }).getByText(words).first().waitFor()
    await tab.close()
  })

  test('I55 no request leaves the load balancer', async () => {
    const { client, proxy, counted } = bound(stage())
    const tab = await stage().context.newPage()
    const requests: string[] = []
    tab.on('request', (request) => requests.push(request.url()))
    await tab.goto(`${proxy.url}/#${await client.newSession()}`)
    await tab.getByRole('textbox', { name: 'Message' }).fill('what is 6 * 7')
    await tab.keyboard.press('Enter')
    await tab.getByText('The answer is 42.').waitFor()
    counted('I55 requests, all to our origin', requests.length)
    expect(requests.filter((url) => !url.startsWith(proxy.url))).toEqual([])
    expect(requests.length).toBeGreaterThan(3)
    await tab.close()
  })

  test('I56 the badge of the demo model is there with it, and not with another provider', async () => {
    const { a, client, fleet } = bound(stage())
    const badge = 'Demo model: scripted, not an AI'
    const tab = await stage().openSession(await client.newSession())
    await tab.getByText(badge).first().waitFor()
    await change(a, { provider: 'openai-compatible', model: 'local-1', base_url: fleet.demoModelUrl })
    await tab.reload()
    await tab.getByRole('textbox', { name: 'Message' }).waitFor()
    await expect.poll(() => tab.getByText(badge).count(), { timeout: 30_000 }).toBe(0)
    await change(a, { provider: 'demo', model: 'demo-scripted-1' })
    await tab.close()
  })
}
