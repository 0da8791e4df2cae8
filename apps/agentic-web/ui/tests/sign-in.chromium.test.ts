// Signing in as a person would: the link that works once, the password, and leaving everywhere.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPage, openBrowser, openPage, Site } from './site.ts'

const site = new Site({ AUTH_MODE: 'password' })
beforeAll(async () => {
  await buildPage()
  await site.start()
}, 120_000)
afterAll(() => site.close())

const isIn = (page: Page) => page.getByRole('heading', { name: 'Sessions' }).waitFor()
const isOut = (page: Page) => page.getByRole('heading', { name: 'Sign in' }).waitFor()

async function signIn(page: Page, password: string): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

test('a link is used once, a wrong password is told, and signing out everywhere reaches the other browser', async () => {
  const said = await site.command('create-user', 'ada@example.com')
  const [link = ''] = /http\S+#invite=\S+/.exec(said) ?? []
  const page = await openPage(await openBrowser(), site)
  await isOut(page)
  await page.goto(link)
  await page.reload()
  await page.getByLabel('New password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Save and sign in' }).click()
  await isIn(page)
  expect(page.url()).not.toContain('invite')

  const other = await openPage(await openBrowser(), site)
  await signIn(other, 'wrong password')
  await other.getByRole('alert').getByText('the address or the password is wrong').waitFor()
  await signIn(other, 'correct horse battery')
  await isIn(other)
  await other.goto(link)
  await other.reload()
  await other.getByLabel('New password').fill('somebody elses password')
  await other.getByRole('button', { name: 'Save and sign in' }).click()
  await other.getByRole('alert').getByText('this link was used already').waitFor()

  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByText('Signed in as ada@example.com').waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await isOut(page)
  await other.goto(site.address)
  await other.reload()
  await isOut(other)
})
