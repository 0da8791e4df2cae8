// Tabs that share one database through browserDialect: any number of them, one executes; what closes or crashes hands over.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Told } from './pages/counting.ts'
import { openCounting, stage } from './stage.ts'

/** Nobody waits for it: who takes over without it has inherited. */
const LONG_LEASE = { staleThreshold: 600_000, pollingInterval: 100 }

const textsOf = (told: readonly Told[], what: Told['what']) => told.filter((one) => one.what === what).map(({ text }) => text)
const start = (page: Page) => page.evaluate(() => counting.start())
const capabilities = (page: Page) => page.evaluate(() => counting.capabilities())
const trigger = (page: Page, steps: number) => page.evaluate((steps) => counting.trigger({ steps, bytes: 10 }), steps)
const run = (page: Page, id: string) => page.evaluate((id) => counting.run(id), id)
const completed = (page: Page, id: string) => expect.poll(() => run(page, id), { timeout: 60_000 }).toMatchObject({ status: 'completed' })

test('of five tabs one executes, without COOP and COEP, and all of them trigger, read and subscribe', async () => {
  const { launch } = await stage('tabs', 'browser', { isolated: false })
  const { tab, told, context } = await launch()
  const printed: string[] = []
  context.on('console', (message) => printed.push(message.text()))
  const tabs: Page[] = []
  for (let i = 0; i < 5; i++) {
    const page = await tab(LONG_LEASE)
    await start(page)
    tabs.push(page)
  }
  const [host, ...guests] = tabs as [Page, ...Page[]]
  await expect
    .poll(() => capabilities(host))
    .toMatchObject({
      role: 'host',
      executes: true,
      notifications: true,
      transactions: true,
      browser: { opfs: true, webLocks: true, crossOriginIsolated: false },
    })
  for (const page of guests) expect(await capabilities(page)).toMatchObject({ role: 'guest', executes: false })
  const ids = await Promise.all(tabs.map((page) => trigger(page, 3)))
  const seen = await Promise.all(ids.map((id, i) => (tabs[(i + 1) % 5] as Page).evaluate((id) => counting.follow(id), id)))
  for (const types of seen) {
    expect(types.filter((type) => type === 'step:complete')).toHaveLength(3)
    expect(types.at(-1)).toBe('run:complete')
  }
  for (const id of ids) expect(await run(host, id)).toMatchObject({ status: 'completed' })
  expect(textsOf(told, 'executed')).toHaveLength(15)
  expect([...textsOf(told, 'error'), ...printed]).toEqual([])
})

test.each(['close', 'crash', 'reload'] as const)('a leading tab that goes by %s hands its run over at once', async (how) => {
  const { launch } = await stage('tabs', 'browser')
  const { tab, told, heard } = await launch()
  const host = await tab(LONG_LEASE)
  await start(host)
  const guest = await tab(LONG_LEASE)
  await start(guest)
  const id = await trigger(guest, 200)
  await heard((told) => textsOf(told, 'recorded').length >= 5)
  const isThere = guest.evaluate((id) => counting.follow(id), id)
  if (how === 'close') await host.close()
  else if (how === 'reload') await host.reload()
  else await host.goto('chrome://crash').catch(() => {})
  const acknowledged = textsOf(told, 'recorded')
  const before = told.length
  await completed(guest, id)
  expect((await isThere).at(-1)).toBe('run:complete')
  expect(textsOf(told.slice(before), 'executed').filter((step) => acknowledged.includes(step))).toEqual([])
  expect(await capabilities(guest)).toMatchObject({ role: 'host', executes: true })
  if (how !== 'reload') return
  await openCounting(host, LONG_LEASE)
  expect(await capabilities(host)).toMatchObject({ role: 'guest' })
  await completed(host, id)
})

test('a tab that is alone and reloaded goes on at once, however long its lease is', async () => {
  const { launch } = await stage('tabs', 'browser')
  const { tab, told, heard } = await launch()
  const page = await tab(LONG_LEASE)
  await start(page)
  const id = await trigger(page, 200)
  await heard((told) => textsOf(told, 'recorded').length >= 5)
  await page.reload()
  const acknowledged = textsOf(told, 'recorded')
  const before = told.length
  await openCounting(page, LONG_LEASE)
  await start(page)
  await completed(page, id)
  expect(textsOf(told.slice(before), 'executed').filter((step) => acknowledged.includes(step))).toEqual([])
})

test('a tab that dies in the middle of a transaction keeps nobody out, and leaves nothing of it', async () => {
  const { launch } = await stage('tabs', 'browser')
  const { tab } = await launch()
  const host = await tab(LONG_LEASE)
  await start(host)
  const guest = await tab(LONG_LEASE)
  await guest.evaluate(() => counting.holdTransaction())
  const triggered = trigger(host, 1)
  await guest.close()
  await completed(host, await triggered)
  // It can be made again, so it is not there.
  const other = await tab(LONG_LEASE)
  await other.evaluate(() => counting.holdTransaction())
})
