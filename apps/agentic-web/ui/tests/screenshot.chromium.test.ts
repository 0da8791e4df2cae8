// `npm run agentic:screenshot` makes the pictures of the guide.
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { buildPage, openBrowser, openPage, Site } from './site.ts'

const picture = (name: string) => fileURLToPath(new URL(`../../../../docs/images/agentic-${name}.png`, import.meta.url))
const READY = { timeout: 60_000, interval: 50 }

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: 'Your message' }).filter({ hasText: text }).last().waitFor()
  await expect.poll(() => page.locator('.pill').first().textContent(), READY).toBe('Ready')
}

test.runIf(process.env.AGENTIC_SCREENSHOT)('pictures of the page', async () => {
  await buildPage()
  const site = new Site()
  onTestFinished(() => site.close())
  await site.start()
  const page = await openPage(await openBrowser(), site)
  await page.setViewportSize({ width: 1280, height: 800 })
  await ask(page, 'What can you do?')
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await ask(page, 'write sales.csv: north,120\nsouth,80\neast,45')
  await ask(page, '!reason')
  await ask(page, 'sum column 2 of sales.csv')
  await page.getByRole('textbox', { name: 'Message' }).fill('!slow 60')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Files', exact: true }).click()
  await page.getByText('word-12').waitFor()
  await page.screenshot({ path: picture('desktop') })
  await page.getByRole('button', { name: 'Close files' }).click()
  await page.setViewportSize({ width: 390, height: 780 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByText('word-20').waitFor()
  await page.screenshot({ path: picture('phone') })
})
