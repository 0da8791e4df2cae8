// Where the counting page plays: one origin, one profile, and browsers that come and go on it. All of it goes with the test.

import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { launchChromium, type TestBrowser, temporaryProfile } from './chromium.ts'
import { bundlePage, servePage } from './page-server.ts'
import type { Told } from './pages/counting.ts'

/** A lease that a test can wait for, on a slow machine too. */
export const SHORT_LEASE = { staleThreshold: 2000, heartbeatInterval: 400, pollingInterval: 100 }

const PATIENCE_MS = 60_000

export interface Stage {
  readonly origin: string
  launch(): Promise<Cast>
}

export interface Cast extends TestBrowser {
  /** By all tabs of this browser. */
  readonly told: readonly Told[]
  /** Waits until enough was told; the page need not be asked, so it may be busy. */
  heard(enough: (told: readonly Told[]) => boolean): Promise<void>
  /** The counting page, in a tab of its own; opened, not started. */
  tab(options?: Parameters<typeof counting.open>[0]): Promise<Page>
}

/** `name` is that of the test file. */
export async function stage(name: string, dialect: string, { isolated = true } = {}): Promise<Stage> {
  const { profile, remove } = temporaryProfile()
  onTestFinished(remove)
  const server = await servePage(await bundlePage(name, new URL('./pages/counting.ts', import.meta.url)), { isolated })
  onTestFinished(() => server.close())
  return { origin: server.origin, launch: () => launch(profile, `${server.origin}/?dialect=${dialect}`) }
}

async function launch(profile: string, address: string): Promise<Cast> {
  const browser = await launchChromium(profile)
  onTestFinished(() => browser.close())
  const told: Told[] = []
  let onTold = () => {}
  await browser.context.exposeFunction('tell', (one: Told) => {
    told.push(one)
    onTold()
  })
  return {
    ...browser,
    told,
    heard: (enough) =>
      new Promise((resolve, reject) => {
        const patience = setTimeout(() => reject(new Error(`heard only ${JSON.stringify(told.slice(-20))}`)), PATIENCE_MS)
        onTold = () => {
          if (!enough(told)) return
          clearTimeout(patience)
          resolve()
        }
        onTold()
      }),
    async tab(options) {
      const page = await browser.context.newPage()
      await page.goto(address)
      await openCounting(page, options)
      return page
    },
  }
}

/** Again, after a reload. */
export async function openCounting(page: Page, options?: Parameters<typeof counting.open>[0]): Promise<void> {
  await page.waitForFunction(() => globalThis.counting !== undefined)
  await page.evaluate((options) => counting.open(options), options)
}
