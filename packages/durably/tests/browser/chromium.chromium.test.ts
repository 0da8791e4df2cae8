import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { launchChromium, temporaryProfile } from './chromium.ts'
import { bundlePage, servePage } from './page-server.ts'

test('what a page stored is there after SIGKILL of the whole browser, and headers decide whether it is isolated', async () => {
  const { profile, remove } = temporaryProfile()
  onTestFinished(remove)
  const bundle = await bundlePage('chromium', new URL('./pages/blank.ts', import.meta.url))
  const server = await servePage(bundle, { isolated: true })
  const plain = await servePage(bundle, { isolated: false })
  onTestFinished(() => server.close())
  onTestFinished(() => plain.close())

  const first = await launchChromium(profile)
  const page = await first.context.newPage()
  await page.goto(`${server.origin}/one`)
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true)
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory()
    await root.getFileHandle('kept', { create: true })
  })
  await first.sigkill()

  const second = await launchChromium(profile)
  onTestFinished(() => second.close())
  const again = await second.context.newPage()
  await again.goto(`${server.origin}/two`)
  const names = await again.evaluate(async () => {
    const root = await navigator.storage.getDirectory()
    return root.getFileHandle('kept').then((file) => file.name)
  })
  expect(names).toBe('kept')
  await again.goto(plain.origin)
  expect(await again.evaluate(() => crossOriginIsolated)).toBe(false)
})

test('a profile goes without a trace', async () => {
  const { profile, remove } = temporaryProfile()
  const browser = await launchChromium(profile)
  await browser.close()
  remove()
  expect(existsSync(profile)).toBe(false)
})
