// The example is used as a person would: by its buttons, its tabs and what it shows.
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, openPage, openSite, type Site } from './site.ts'

const SOON = { timeout: 60_000, interval: 100 }

/** Those that the sample spoils on purpose. */
const LEFT_OUT = [17, 64, 113, 171, 228]
const ROWS = readFileSync(new URL('../src/sample.csv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const SAMPLE = ROWS.filter((_, row) => row > 0 && !LEFT_OUT.includes(row)).map((line) => line.split(',')[1])

const click = (page: Page, button: string) => page.getByRole('button', { name: button, exact: true }).click()
const textsOf = (page: Page, list: string) => page.getByRole('list', { name: list }).getByRole('listitem').allTextContents()
const run = (page: Page) => page.getByRole('region', { name: 'Run', exact: true })
const phase = (page: Page) => run(page).locator('.pill').textContent()
async function rowsDone(page: Page): Promise<number> {
  const text = await run(page).getByText(' rows').first().textContent()
  return Number.parseInt(text ?? '', 10)
}
const contacts = (page: Page) => page.getByRole('table', { name: 'Contacts' }).locator('td:nth-child(2)').allTextContents()
const tab = (page: Page) => page.getByRole('status').textContent()
const isThe = (words: string, page: Page) => expect.poll(() => tab(page), SOON).toContain(words)
const executions = async (page: Page) => (await textsOf(page, 'Log')).filter((line) => line.includes('executed by'))

async function sampleIsSaved(page: Page): Promise<void> {
  await expect.poll(() => phase(page), SOON).toBe('completed')
  await expect.poll(async () => (await contacts(page)).length, SOON).toBeGreaterThanOrEqual(SAMPLE.length)
  expect((await contacts(page)).reverse()).toEqual(SAMPLE)
  await expect.poll(async () => (await textsOf(page, 'Steps')).length, SOON).toBe(25)
  expect(await run(page).textContent()).toContain('235 contacts saved, 5 rows left out')
}

let site: Site
beforeAll(async () => {
  site = await openSite('spa')
}, 120_000)
afterAll(() => site?.close())

test('an import that is reloaded in the middle, again and again, saves every row once; then the page works without a network', async () => {
  const context = await openBrowser()
  const page = await openPage(context, site)
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(false)
  await click(page, 'Import the sample')
  for (const rows of [20, 60, 100]) {
    await expect.poll(() => rowsDone(page), SOON).toBeGreaterThanOrEqual(rows)
    const reloaded = page.waitForEvent('load')
    await click(page, 'Reload the page now')
    await reloaded
    await expect.poll(() => rowsDone(page), SOON).toBeGreaterThanOrEqual(rows)
  }
  await sampleIsSaved(page)
  expect((await executions(page)).length).toBeGreaterThan(1)

  await page.evaluate(() => navigator.serviceWorker.ready)
  await context.setOffline(true)
  await page.reload()
  await sampleIsSaved(page)
})

test('two tabs show the same and one executes; when it is closed in the middle, the other one goes on', async () => {
  const context = await openBrowser()
  const first = await openPage(context, site)
  await isThe('executes the imports', first)
  const second = await openPage(context, site)
  await isThe('another tab executes', second)
  const [firstName = ''] = (await tab(first))?.match(/page \w+/) ?? []
  await click(second, 'Import the sample')
  await expect.poll(() => rowsDone(first), SOON).toBeGreaterThanOrEqual(20)
  await expect.poll(() => rowsDone(second), SOON).toBeGreaterThanOrEqual(20)
  expect(await executions(second)).toEqual([expect.stringContaining(firstName)])
  await first.close()
  await isThe('executes the imports', second)
  await sampleIsSaved(second)
  expect(await executions(second)).toHaveLength(2)
})

test('an import is cancelled; another one fails, is retried and deleted', async () => {
  const page = await openPage(await openBrowser(), site)
  await click(page, 'Import the sample')
  await expect.poll(() => rowsDone(page), SOON).toBeGreaterThanOrEqual(20)
  await click(page, 'Cancel')
  await expect.poll(() => phase(page), SOON).toBe('cancelled')
  expect((await contacts(page)).length).toBeLessThan(SAMPLE.length)

  const withoutCity = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from('name,email\nAda,ada@example.com\n') }
  await page.locator('input[type=file]').setInputFiles(withoutCity)
  await run(page).getByRole('alert').filter({ hasText: 'does not name city' }).waitFor()
  await click(page, 'Retry')
  await expect.poll(async () => (await executions(page)).length, SOON).toBe(2)
  await expect.poll(() => phase(page), SOON).toBe('failed')
  await click(page, 'Delete')
  await expect.poll(() => textsOf(page, 'Runs'), SOON).toEqual([expect.stringContaining('sample.csv')])
})
