// A page of the dashboard in a Chromium of its own. An error in the page, a refusal by its policy or a request to somebody else fails the test.
import type { BrowserContext, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { launchChromium, temporaryProfile } from '../../durably/tests/browser/chromium.ts'

const PATIENCE_MS = 20_000

export async function openBrowser(): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  const { profile, remove } = temporaryProfile()
  const { context, close } = await launchChromium(profile)
  context.setDefaultTimeout(PATIENCE_MS)
  return {
    context,
    async close() {
      await close()
      remove()
    },
  }
}

export interface PageLook {
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
}

/** Closed with the test. */
export async function openPage(
  context: BrowserContext,
  address: string,
  { width = 1280, height = 800, scheme = 'light' }: PageLook = {},
): Promise<Page> {
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text())) troubles.push(message.text())
  })
  const own = new URL(address).origin
  page.on('request', (request) => {
    if (!request.url().startsWith(own) && !request.url().startsWith('blob:')) troubles.push(`asks ${request.url()}`)
  })
  onTestFinished(async () => {
    const hacked = await page.evaluate(() => 'hacked' in globalThis)
    await page.close()
    expect(troubles).toEqual([])
    expect(hacked).toBe(false)
  })
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme })
  await page.goto(address)
  return page
}
