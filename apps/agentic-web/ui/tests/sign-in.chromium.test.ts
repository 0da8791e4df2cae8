// Signing in as a person would: with the link that works once and a password, leaving everywhere, and at another service.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { OidcServer } from '../../tests/rig/oidc-server.ts'
import { buildPage, openBrowser, openPage, Site } from './site.ts'

beforeAll(buildPage, 120_000)

async function start(env: Record<string, string>): Promise<Site> {
  const site = new Site(env)
  onTestFinished(() => site.close())
  await site.start()
  return site
}

const isIn = (page: Page) => page.getByRole('heading', { name: 'Sessions' }).waitFor()
const isOut = (page: Page) => page.getByRole('heading', { name: 'Sign in' }).waitFor()

async function signIn(page: Page, password: string): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

test('a link is used once, a wrong password is told, and signing out everywhere reaches the other browser', async () => {
  const site = await start({ AUTH_MODE: 'password' })
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

test('who was invited signs in at the service, connects it, and disconnects; who says no is told', async () => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const service = await OidcServer.start({ redirectUris: [`${url}/auth/callback`] })
  onTestFinished(() => service.close())
  const site = await start({ AUTH_MODE: 'oidc', PORT: String(port), PUBLIC_URL: url, OAUTH_OIDC_API_URL: `${url}/v1`, ...service.env })
  const page = await (await openBrowser()).newPage()
  await page.goto(site.address)
  await page.getByRole('link', { name: 'Sign in with your organisation' }).click()
  await page.getByText('you are no user here').waitFor()
  await site.command('create-user', service.account.email)
  await page.getByRole('link', { name: 'Back to the app' }).click()
  await page.getByRole('link', { name: 'Sign in with your organisation' }).click()
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()

  const settings = page.getByRole('dialog', { name: 'Settings' })
  await page.getByRole('button', { name: 'Settings' }).click()
  service.denies = true
  await settings.getByRole('link', { name: 'Connect' }).click()
  await page.getByText('your organisation said: access_denied').waitFor()
  service.denies = false
  await page.getByRole('link', { name: 'Back to the app' }).click()
  await page.getByRole('button', { name: 'Settings' }).click()
  await settings.getByText('your organisation: not connected').waitFor()
  await settings.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('button', { name: 'Settings' }).click()
  await settings.getByText(`your organisation: connected (${service.account.email})`).waitFor()
  await settings.getByRole('button', { name: 'Disconnect' }).click()
  await settings.getByText('your organisation: not connected').waitFor()
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
