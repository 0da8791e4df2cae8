// In a browser: signing in at another service, connecting it in the settings, and disconnecting.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, test } from 'vitest'
import { OidcServer } from '../../tests/rig/oidc-server.ts'
import { buildPage, openBrowser, Site } from './site.ts'

let service: OidcServer
let site: Site
beforeAll(async () => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  service = await OidcServer.start({ redirectUris: [`${url}/auth/callback`] })
  site = new Site({ AUTH_MODE: 'oidc', PORT: String(port), PUBLIC_URL: url, OAUTH_OIDC_API_URL: `${url}/v1`, ...service.env })
  await buildPage()
  await site.start()
}, 120_000)
afterAll(() => Promise.all([site?.close(), service?.close()]))

test('who was invited signs in at the service, connects it, and disconnects; who says no is told', async () => {
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
