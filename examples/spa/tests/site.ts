// The example as its users get it: built, served as plain files without COOP and COEP, in a Chromium with a profile of its own.
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { build, preview } from 'vite'
import { expect, onTestFinished, vi } from 'vitest'
import { launchChromium, temporaryProfile } from '../../../packages/durably/tests/browser/chromium.ts'

const PATIENCE_MS = 60_000

const root = fileURLToPath(new URL('..', import.meta.url))

export interface Site {
  address: string
  close(): Promise<void>
}

/** `name` is that of the test file, which has its own build. */
export async function openSite(name: string): Promise<Site> {
  const config = { root, logLevel: 'error' as const, build: { outDir: `.tmp/${name}`, emptyOutDir: true, chunkSizeWarningLimit: 2000 } }
  // Vitest sets it to `test`, with which Vite would build for development.
  vi.stubEnv('NODE_ENV', 'production')
  await build(config)
  vi.unstubAllEnvs()
  const server = await preview({ ...config, preview: { port: 0, host: '127.0.0.1' } })
  const { port } = server.httpServer.address() as { port: number }
  return { address: `http://localhost:${port}/`, close: () => server.close() }
}

/** All of it goes with the test. */
export async function openBrowser(): Promise<BrowserContext> {
  const { profile, remove } = temporaryProfile()
  onTestFinished(remove)
  const { context, close } = await launchChromium(profile)
  onTestFinished(close)
  context.setDefaultTimeout(PATIENCE_MS)
  return context
}

export async function openPage(context: BrowserContext, { address }: Site): Promise<Page> {
  const page = await context.newPage()
  const errors: Error[] = []
  page.on('pageerror', (error) => errors.push(error))
  onTestFinished(() => expect(errors).toEqual([]))
  await page.goto(address)
  return page
}
