// `npm run spa:screenshot` makes the picture in the README: the second of two imports, in the middle.
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openBrowser, openPage, openSite } from './site.ts'

const PICTURE = fileURLToPath(new URL('../../../docs/images/spa.png', import.meta.url))
const MAX_BYTES = 200_000

test.runIf(process.env.SPA_SCREENSHOT)('a picture of the example', async () => {
  const site = await openSite('screenshot')
  onTestFinished(() => site.close())
  const page = await openPage(await openBrowser(), site)
  await page.emulateMedia({ colorScheme: process.env.SPA_SCREENSHOT === 'dark' ? 'dark' : 'light' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.locator('input[type=file]').setInputFiles(fileOf('people.csv', 'name,email\nAda Abel,ada@example.com\n'))
  await page.getByText('does not name city').waitFor()
  await page.getByRole('button', { name: 'Import the sample' }).click()
  await page.getByText(/^1[02468]0 of 240 rows/).waitFor()
  await page.getByRole('button', { name: 'Reload the page now' }).click()
  await page.getByText(/^(1[68]0|200) of 240 rows/).waitFor()
  await page.screenshot({ path: PICTURE })
  expect(statSync(PICTURE).size).toBeLessThanOrEqual(MAX_BYTES)
})

function fileOf(name: string, text: string) {
  return { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
}
