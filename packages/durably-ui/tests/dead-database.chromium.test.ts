// A real Postgres is switched off under a server whose dashboard is open, and comes back.
import { postgres } from '@coji/durably/postgres'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../durably/tests/postgres/server.ts'
import { openBrowser, openPage } from './open-page.ts'
import { openWorld } from './world.ts'

test('the page says that the database is away, keeps what it shows, and goes on when it is back', { timeout: 120_000 }, async () => {
  const server = await startPostgres({ own: true })
  onTestFinished(() => server.stop())
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const world = await openWorld(() => postgres(server.url))
  await world.jobs.pay.trigger({})
  const page = await openPage(browser.context, world.address)
  const rows = page.getByRole('list', { name: 'Runs' }).getByRole('link')
  await rows.first().waitFor()

  const up = await server.down()
  const notice = page.getByText('The server cannot reach its database.')
  await notice.waitFor({ timeout: 40_000 })
  expect(await rows.count()).toBe(1)

  await up()
  await notice.waitFor({ state: 'detached', timeout: 40_000 })
  await world.jobs.pay.trigger({})
  await rows.nth(1).waitFor()
})
