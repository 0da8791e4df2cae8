// The buttons of `durably dev` in a real Chromium.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { httpClient } from '@coji/durably/client'
import { expect, onTestFinished, test } from 'vitest'
import { launchChromium, temporaryProfile } from '../../durably/tests/browser/chromium.ts'
import { temporaryFolder } from './cli.ts'
import { start } from './program.ts'

const SOON = { timeout: 60_000, interval: 100 }

test('the kill button kills and the run goes on; the clock moves, and the worker pauses', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder()
  const program = start(['dev', '--port', '0', '--no-demo'], { cwd: folder })
  const [, url = ''] = await program.says(/(http:\/\/localhost:\d+)/)
  const { profile, remove } = temporaryProfile()
  const browser = await launchChromium(profile)
  onTestFinished(async () => {
    await browser.close()
    remove()
  })
  const page = await browser.context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('response', async (response) => {
    if (response.status() >= 500) problems.push(`${response.url()}: ${await response.text().catch(String)}`)
  })
  await page.goto(url)
  const bar = page.getByRole('toolbar', { name: 'durably dev' })
  const status = () => bar.getByRole('status').textContent()
  await expect.poll(status, SOON).toMatch(/^worker \d+$/)
  const first = await status()
  // The buttons cover nothing of the page.
  const [dashboard, buttons] = await Promise.all([page.locator('durably-dashboard').boundingBox(), bar.boundingBox()])
  expect((dashboard?.y ?? 0) + (dashboard?.height ?? 0)).toBe(buttons?.y)
  // Its jobs are known when its process has loaded them.
  await program.says(/worker \d+: monthly-report/)

  const client = httpClient({ url: `${url}/api` })
  const run = await client.trigger('monthly-report', { stepMs: 1000 })
  for await (const { type } of client.subscribe(run.id)) if (type === 'step:complete') break
  await bar.getByRole('button', { name: 'Kill the worker' }).click()
  await expect.poll(status, SOON).not.toBe(first)
  const types: string[] = []
  for await (const { type } of client.subscribe(run.id)) types.push(type)
  expect(types).toEqual(expect.arrayContaining(['run:reclaim', 'run:complete']))

  await bar.getByRole('button', { name: '+1 hour' }).click()
  await expect.poll(status, SOON).toContain('clock +1 h')
  await bar.getByRole('button', { name: 'Pause' }).click()
  await expect.poll(status, SOON).toContain('paused')
  expect(await bar.getByRole('button', { name: 'Pause' }).getAttribute('aria-pressed')).toBe('true')
  expect(problems).toEqual([])
})

test('a job file that throws is shown as text, whatever it says', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'jobs'))
  writeFileSync(join(folder, 'jobs/broken.ts'), 'throw new Error("<img src=x onerror=alert(1)> is broken")')
  const program = start(['dev', '--port', '0'], { cwd: folder })
  const [, url = ''] = await program.says(/(http:\/\/localhost:\d+)/)
  const { profile, remove } = temporaryProfile()
  const browser = await launchChromium(profile)
  onTestFinished(async () => {
    await browser.close()
    remove()
  })
  const page = await browser.context.newPage()
  await page.goto(url)
  await expect.poll(() => page.locator('durably-dev-controls pre').textContent(), SOON).toContain('<img src=x onerror=alert(1)> is broken')
  expect(await page.locator('durably-dev-controls img').count()).toBe(0)
})
