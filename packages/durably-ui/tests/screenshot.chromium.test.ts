// `npm run ui:screenshot` makes the pictures in the docs: the list of runs, and a run that was taken over from a killed worker.
import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openBrowser, openPage, type PageLook } from './open-page.ts'
import { openWorld, type World } from './world.ts'

const MAX_BYTES = 250_000
const LOOKS: readonly (PageLook & { name: string })[] = [
  { name: 'light', scheme: 'light', width: 1280, height: 820 },
  { name: 'dark', scheme: 'dark', width: 1280, height: 820 },
  { name: 'phone', scheme: 'light', width: 390, height: 780 },
]

test.runIf(process.env.UI_SCREENSHOT)('pictures of the dashboard', async () => {
  const world = await openWorld()
  const { context, close } = await openBrowser()
  onTestFinished(close)
  const id = await populate(world)
  const { importCsv } = world.jobs
  for (const { name, ...look } of LOOKS) {
    const page = await openPage(context, world.address, look)
    const shoot = async (what: string) => {
      const path = fileURLToPath(new URL(`../../../docs/images/dashboard-${what}-${name}.png`, import.meta.url))
      await page.screenshot({ path })
      expect(statSync(path).size).toBeLessThanOrEqual(MAX_BYTES)
    }
    await page.getByRole('list', { name: 'Runs' }).waitFor()
    await importCsv.trigger({ file: 'people.csv', rows: 240, mode: 'append' }, { labels: { tenant: 'globex' } })
    await page.getByText(/^(120|180) of 240/).waitFor()
    await shoot('runs')
    await page.goto(`${world.address}#/runs/${id}`)
    await page.getByText('took it over').waitFor()
    await shoot('run')
  }
})

/** Some runs of each kind, as a small shop has them. */
async function populate({ durably, jobs, loseWorker }: World): Promise<string> {
  const labels = (tenant: string) => ({ labels: { tenant } })
  const id = await loseWorker('monthlyReport')
  durably.start()
  for (let i = 0; i < 9; i++) await jobs.resize.trigger({ image: `cover-${i}.png`, width: 256 })
  await jobs.importCsv.trigger({ file: 'cities.csv', rows: 80, mode: 'replace' }, labels('acme'))
  await jobs.approveInvoice.trigger({ invoice: 'INV-2041', cents: 129_900 }, labels('acme'))
  await jobs.chargeCard.trigger({ customer: 'Ada Abel' }, labels('globex'))
  await jobs.syncCrm.trigger({})
  await jobs.approveInvoice.trigger({ invoice: 'INV-2042', cents: 4900 }, labels('globex'))
  await jobs.summarize.trigger({ text: 'Nothing is lost when a worker dies: the next one goes on after the last recorded step.' })
  await jobs.monthlyReport.trigger({ month: '2026-09' }, labels('acme'))
  while ((await durably.getRuns({ phase: ['pending', 'running', 'stale'], limit: 1 })).length > 0) await pause(100)
  return id
}
