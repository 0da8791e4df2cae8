// The dashboard as people use it: served as files, over HTTP, from a real engine on SQLite, in a real Chromium.
import { readFileSync } from 'node:fs'
import { retry } from '@coji/durably'
import { cluster } from '@coji/durably/cluster'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { HOSTILE } from './jobs.ts'
import { openBrowser, openPage, type PageLook } from './open-page.ts'
import { openWorld, type World } from './world.ts'

const PATIENCE = { timeout: 20_000 }

let browser: { context: BrowserContext; close(): Promise<void> }

beforeAll(async () => {
  browser = await openBrowser()
}, 60_000)

afterAll(() => browser?.close(), 60_000)

/** With a worker at work. */
async function workingWorld(): Promise<World> {
  const world = await openWorld()
  world.durably.start()
  return world
}

const open = ({ address }: World, hash = '', look?: PageLook) => openPage(browser.context, `${address}#${hash}`, look)
const rows = (page: Page) => page.getByRole('list', { name: 'Runs' }).getByRole('link')
const confirm = (page: Page, button: string) => page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()

test('without runs it says so, and a run that is triggered elsewhere appears at once, with its progress', async () => {
  const world = await openWorld()
  const page = await open(world)
  await page.getByText('No runs yet').waitFor()
  world.durably.start()
  // So many that the page shows its progress for seconds, also on a busy machine.
  await world.jobs.importCsv.trigger({ file: 'a.csv', rows: 400, mode: 'append' }, { labels: { tenant: 'acme' } })
  await page.getByText(/^\d+ of 400 · importing rows/).waitFor()
  const row = rows(page).filter({ hasText: 'import-csv' })
  await row.getByText('Completed').waitFor()
  await row.click()
  await page.getByRole('heading', { name: 'import-csv', level: 1 }).waitFor()
  await page.getByText('Date 2026-11-01T10:00:00.000Z').waitFor()
  await page.getByText('2 rows have no city').first().waitFor()
  await page.getByRole('region', { name: 'Runs that it triggered' }).getByRole('link', { name: 'resize-image' }).first().click()
  await page.getByRole('link', { name: 'parent', exact: true }).waitFor()
})

test('schedules, workers and the leader are shown, and a schedule is paused and resumed', async () => {
  const world = await openWorld()
  cluster(world.durably, { dispatch: 'leader' })
  world.durably.start()
  await world.durably.schedule('nightly', { job: 'import-csv', cron: '0 3 * * *', payload: { file: 'a.csv', rows: 1, mode: 'append' } })
  const page = await open(world, '/schedules')
  await page.getByText('0 3 * * *').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused').waitFor()
  expect(await world.durably.schedules.get('nightly')).toMatchObject({ paused: true })
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.getByRole('link', { name: 'Workers' }).click()
  await page.getByText(/worker-b leads, in epoch \d+/).waitFor()
  await page.getByRole('heading', { name: 'worker-b' }).waitFor()
  await world.durably.settings.set({ archiveAfter: '30d' }, { actor: 'ada' })
  await page.getByRole('link', { name: 'Audit' }).click()
  await page.getByText('settings:set').waitFor()
  await page.getByText('leader:elect').first().waitFor()
  await page.getByText('ada').first().waitFor()
})

test('a run that never started: the list has its key, and its timeline says so, before and after its end', async () => {
  const world = await openWorld()
  const { id } = await world.jobs.quick.trigger(null, { concurrencyKey: 'customer-17' })
  const page = await open(world)
  await rows(page)
    .getByText(/^Due for .*, has key “customer-17”\.$/)
    .waitFor()
  await rows(page).click()
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByText('It has not started yet.').waitFor()
  await world.durably.cancel(id)
  await timeline.getByText('It ended before a worker started it.').waitFor()
})

test('a run that is tried again says why, in the list and on its page', async () => {
  const world = await openWorld()
  const again = { name: 'again', input: z.unknown(), retry: retry.fixed({ maxAttempts: 3, delay: '2h' }) }
  await world.durably.defineJob(again, () => Promise.reject(new Error('503 from the carrier'))).trigger(null)
  await world.durably.processUntilIdle()
  const page = await open(world)
  await rows(page)
    .getByText(/^Its last attempt failed; it is tried again in .*\. 503 from the carrier$/)
    .waitFor()
  await rows(page).click()
  await page.getByRole('heading', { name: /it is tried again in .*\. It failed with “503 from the carrier”\.$/ }).waitFor()
})

test('a worker that is in no register is not denied', async () => {
  const world = await workingWorld()
  await world.durably.schedule('nightly', { job: 'quick', cron: '0 3 * * *', payload: null })
  const page = await open(world, '/workers')
  await page.getByText('Workers enter it only if their process calls cluster()').waitFor()
})

test('a run that was taken over from a killed worker shows who held it when', async () => {
  const world = await openWorld()
  const id = await world.loseWorker('monthlyReport')
  const page = await open(world, `/runs/${id}`)
  await page.getByRole('heading', { name: 'Its worker is silent, and its lease is over.' }).waitFor()
  await page.getByText('Unless another process does so, start a worker that has the job “monthly-report”.').waitFor()
  world.durably.start()
  await page.getByText(/^worker-a held it for .*, and was lost \(silent for/).waitFor()
  await page.getByText(/^worker-b took it over from worker-a and held it for .*, and completed it\.$/).waitFor()
  await page.getByTitle(/^No sign of worker-a for/).waitFor()
  expect(await page.getByTitle(/^open ledger: completed after .* on worker-a$/).count()).toBe(1)
  expect(await page.getByTitle(/^render report: completed after .* on worker-b$/).count()).toBe(1)
  await page.getByRole('button', { name: /^match refunds/ }).click()
  await page.getByRole('region', { name: 'Result of match refunds' }).waitFor()
})

describe('actions', () => {
  test('a signal is sent with a form, and JSON that is wrong is explained', async () => {
    const world = await workingWorld()
    const { id } = await world.jobs.approveInvoice.trigger({ invoice: 'I-1', cents: 5 })
    const page = await open(world, `/runs/${id}`)
    await page.getByRole('heading', { name: 'It waits for the signal “approval”, and gives up in 7 d.' }).waitFor()
    await page.getByRole('button', { name: 'Signal…' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('approval')
    await dialog.getByLabel('Value, as JSON').fill('yes')
    await confirm(page, 'Send')
    await dialog.getByText('The value must be JSON. A text needs quotes, such as "yes".').waitFor()
    await dialog.getByLabel('Value, as JSON').fill('{ "by": "grace" }')
    await confirm(page, 'Send')
    await page.getByText(`The signal “approval” was sent to run ${id.slice(-8)} of approve-invoice.`).waitFor()
    await page.getByRole('region', { name: 'Output' }).getByText('"by": "grace"').waitFor()
  })

  test('a run that waits for a run that waits for a signal says which one, and its button sends it there', async () => {
    const world = await openWorld()
    const { durably } = world
    const anything = z.unknown()
    const review = durably.defineJob({ name: 'review', input: anything }, (ctx) => ctx.waitFor('reviewed'))
    const order = durably.defineJob({ name: 'order', input: anything }, (ctx) => ctx.invoke(review, null))
    const { id } = await durably.defineJob({ name: 'campaign', input: anything }, (ctx) => ctx.invoke(order, null)).trigger(null)
    durably.start()
    const page = await open(world, `/runs/${id}`)
    await page.getByText(/Somebody must send the signal “reviewed” to run \w+ of review, with the button “Signal review…”\./).waitFor()
    // The engine's own advice names the calls of a program.
    const explained = await page.locator('.explained').textContent()
    expect(explained).toContain('of job "review" waits for signal "reviewed"')
    expect(explained).not.toContain('durably.signal')
    const last = (await durably.getRuns({ jobName: 'review' }))[0]?.id ?? ''
    const name = `run ${last.slice(-8)} of review`
    expect(await page.getByRole('link', { name: `Open ${name}` }).getAttribute('href')).toContain(last)
    expect(await page.getByRole('button', { name: 'Signal…', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Signal review…' }).click()
    const dialog = page.getByRole('dialog', { name: `Send a signal to ${name}` })
    expect(await dialog.getByLabel('Name').inputValue()).toBe('reviewed')
    await dialog.getByLabel('Value, as JSON').fill('"yes"')
    await confirm(page, 'Send')
    await page.getByText(`The signal “reviewed” was sent to ${name}.`).waitFor()
    await page.getByRole('region', { name: 'Output' }).getByText('yes').waitFor()
    expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 'yes' })
  })

  test('a failed run shows its error and causes, and is retried and deleted after a question', async () => {
    const world = await workingWorld()
    const { id } = await world.jobs.chargeCard.trigger({ customer: 'Ada' })
    const page = await open(world, `/runs/${id}`)
    await page.getByRole('region', { name: 'Error' }).getByText('caused by Error').waitFor()
    await page.getByRole('button', { name: 'Retry…' }).click()
    await confirm(page, 'Leave it')
    expect((await world.durably.getRun(id))?.status).toBe('failed')
    await page.getByRole('button', { name: 'Retry…' }).click()
    await confirm(page, 'Retry')
    await page.getByText(`Run ${id.slice(-8)} of charge-card is tried again.`).waitFor()
    // It fails once more.
    await page.getByText(/^worker-b went on with it for .*, and it failed/).waitFor()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await confirm(page, 'Delete')
    await page.getByText(`Run ${id.slice(-8)} of charge-card was deleted.`).waitFor()
    expect(await world.durably.getRun(id)).toBeNull()
  })

  test('a run is cancelled', async () => {
    const world = await workingWorld()
    const { id } = await world.jobs.approveInvoice.trigger({ invoice: 'I-2', cents: 5 })
    const page = await open(world, `/runs/${id}`)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await confirm(page, 'Cancel the run')
    await page.getByText('Cancelled', { exact: true }).waitFor()
    expect((await world.durably.getRun(id))?.status).toBe('cancelled')
  })

  test('a dialog names its run, and is gone with the page that it was opened on', async () => {
    const world = await workingWorld()
    const { approveInvoice } = world.jobs
    const [shown, other] = [
      await approveInvoice.trigger({ invoice: 'I-3', cents: 5 }),
      await approveInvoice.trigger({ invoice: 'I-4', cents: 5 }),
    ]
    const page = await open(world, `/runs/${shown.id}`)
    const cancel = page.getByRole('button', { name: 'Cancel…' })
    const question = (id: string) => page.getByRole('dialog', { name: `Cancel run ${id.slice(-8)} of approve-invoice?` })
    // Until then a worker has it, and it is only asked to stop.
    const waits = page.getByRole('heading', { name: /^It waits for the signal/ })
    await waits.waitFor()
    await page.goto(`${world.address}#/runs/${other.id}`)
    await page.getByRole('button', { name: other.id }).waitFor()
    await cancel.click()
    await question(other.id).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: shown.id }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // The page of the other run is not dead: its own dialog acts on it.
    await cancel.click()
    await question(shown.id).waitFor()
    await confirm(page, 'Cancel the run')
    await page.getByText(`Run ${shown.id.slice(-8)} of approve-invoice was cancelled.`).waitFor()
    expect((await world.durably.getRun(shown.id))?.status).toBe('cancelled')
    expect((await world.durably.getRun(other.id))?.status).toBe('pending')
  })

  test('what a dialog does after its page is left is said, and closes no other dialog', async () => {
    const world = await workingWorld()
    const { id } = await world.jobs.approveInvoice.trigger({ invoice: 'I-5', cents: 5 })
    const page = await open(world, '/jobs')
    await page.goto(`${world.address}#/runs/${id}`)
    await page.getByRole('heading', { name: /^It waits for the signal/ }).waitFor()
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/cancel', async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await confirm(page, 'Cancel the run')
    await page.goBack()
    await page.getByRole('heading', { name: 'Jobs' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    answer()
    await page.getByText(`Run ${id.slice(-8)} of approve-invoice was cancelled.`).waitFor()
    expect(await page.getByRole('dialog', { name: 'Keys' }).count()).toBe(1)
  })

  test('somebody decides what became of a step that must not run twice', async () => {
    const world = await openWorld()
    const id = await world.loseWorker('pay')
    world.durably.start()
    const page = await open(world, `/runs/${id}`)
    await page.getByRole('heading', { name: /Its worker was lost during step “transfer”, which must not run twice/ }).waitFor()
    await page.getByRole('button', { name: 'Decide…' }).click()
    await page.getByLabel('Result, as JSON').fill('"by hand"')
    await confirm(page, 'Decide')
    await page.getByRole('region', { name: 'Output' }).getByText('"by hand"').waitFor()
  })

  test('a job is triggered with a form made of its schema; what is wrong is said, and what was entered stays', async () => {
    const world = await workingWorld()
    const page = await open(world)
    await page.keyboard.press('t')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Job').selectOption('import-csv')
    await dialog.getByLabel('file').fill('form.csv')
    await dialog.getByLabel('rows').fill('0')
    await dialog.getByLabel('mode').selectOption('replace')
    await confirm(page, 'Trigger')
    await dialog.getByText('rows must be at least 1, got 0.').waitFor()
    await dialog.getByLabel('rows').fill('7')
    await dialog.getByText('Options').click()
    await dialog.getByLabel('Delay').fill('soon')
    await confirm(page, 'Trigger')
    await dialog.getByRole('alert').getByText(/delay/).waitFor()
    await dialog.getByLabel('Delay').fill('2h')
    await dialog.getByLabel('Labels').fill('tenant=form')
    await confirm(page, 'Trigger')
    await page.getByRole('heading', { name: 'It starts in 2 h.' }).waitFor()
    const [run] = await world.durably.getRuns({ labels: { tenant: 'form' } })
    expect(run?.payload).toEqual({ file: 'form.csv', rows: 7, mode: 'replace', dryRun: false })
  })

  test('all runs that match are cancelled and deleted, and no other', async () => {
    const world = await openWorld()
    await world.jobs.quick.batchTrigger(
      Array.from({ length: 130 }, () => ({ payload: null, options: { labels: { many: 'yes' }, delay: '1h' as const } })),
    )
    const other = await world.jobs.quick.trigger(null, { delay: '1h' })
    const page = await open(world, '/runs?q=many%3Dyes')
    await rows(page).first().waitFor()
    const many = async (item: string, button: string, done: string) => {
      await page.locator('summary').getByText('All that match').click()
      await page.getByRole('button', { name: item }).click()
      await page.getByRole('dialog').getByText('with label many=yes').waitFor()
      await confirm(page, button)
      await page.getByText(done).waitFor()
    }
    await many('Cancel those that are open…', 'Cancel them', 'Cancelled 130 runs.')
    await many('Delete those that ended…', 'Delete them', 'Deleted 130 runs.')
    await page.getByText('No run matches').waitFor()
    expect((await world.durably.getRun(other.id))?.status).toBe('pending')
  })
})

test('names, errors, logs and values that are code are shown as text, on every page', async () => {
  const world = await workingWorld()
  const run = await world.jobs.hostile.trigger({ [HOSTILE]: HOSTILE }, { labels: { tenant: HOSTILE }, concurrencyKey: HOSTILE })
  const page = await open(world, `/runs/${run.id}`)
  await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor()
  await page.getByRole('region', { name: 'Logs' }).getByText(HOSTILE).first().waitFor()
  await page.getByRole('region', { name: 'Stream output' }).getByText(HOSTILE).first().waitFor()
  await page.getByRole('button', { name: HOSTILE }).first().click()
  await page.getByRole('region', { name: `Result of ${HOSTILE}` }).waitFor()
  await page.getByRole('button', { name: 'Retry…' }).waitFor()
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click()
  await rows(page).filter({ hasText: HOSTILE }).first().waitFor()
  await page.getByRole('link', { name: 'Jobs' }).click()
  await page.getByRole('heading', { name: HOSTILE }).getByRole('link').click()
  await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor()
  await page.keyboard.press('t')
  expect(await page.getByRole('dialog').getByLabel('Job').inputValue()).toBe(HOSTILE)
})

test('of 5 MB only the beginning is shown, and a file has all of it', async () => {
  const world = await workingWorld()
  const payload = { text: 'x'.repeat(5_000_000), end: 'the end' }
  const { id } = await world.jobs.quick.trigger(payload)
  const page = await open(world, `/runs/${id}`)
  const input = page.getByRole('region', { name: 'Input' })
  await input.getByText('The first 20,000 characters. Download it to see all of it.').waitFor()
  expect((await input.locator('pre').textContent())?.length).toBeLessThan(20_100)
  const [download] = await Promise.all([page.waitForEvent('download'), input.getByRole('button', { name: 'Download' }).click()])
  expect(download.suggestedFilename()).toBe(`${id}-input.json`)
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(payload)
})

test('a server that went away and came back: nothing is lost, and the page says what it does', async () => {
  const world = await workingWorld()
  const page = await open(world)
  await page.getByText('No runs yet').waitFor()
  await world.stopServing()
  await page.getByText('Reconnecting…').waitFor()
  const { id } = await world.jobs.quick.trigger('while away')
  await world.serveAgain()
  await rows(page)
    .filter({ hasText: id.slice(-8) })
    .waitFor()
  await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
})

describe('a reader', () => {
  test('uses the keys alone', async () => {
    const world = await openWorld()
    for (const n of [1, 2, 3]) await world.jobs.quick.trigger(n)
    const page = await open(world)
    await rows(page).nth(2).waitFor()
    const focused = () => rows(page).evaluateAll((links) => links.findIndex((link) => link.matches(':focus')))
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key)
    expect(await focused()).toBe(1)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    await page.keyboard.press('Escape')
    await rows(page).first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('charge-nothing')
    await page.keyboard.press('Enter')
    await page.getByText('No run matches').waitFor()
    await page.keyboard.press('Escape')
    expect(page.url()).toContain('q=charge-nothing')
  })

  test('filters by phase, job and search, and the address keeps it', async () => {
    const world = await openWorld()
    const { approveInvoice, quick } = world.jobs
    for (const { id } of [await approveInvoice.trigger({ invoice: 'I-1', cents: 5 }), await quick.trigger(null)])
      await world.durably.cancel(id)
    await approveInvoice.trigger({ invoice: 'I-2', cents: 5 })
    const page = await open(world)
    await page
      .getByRole('group', { name: 'Phases' })
      .getByRole('button', { name: /^Cancelled/ })
      .click()
    await page.getByLabel('Job', { exact: true }).selectOption('approve-invoice')
    await page.waitForURL(/phase=cancelled&job=approve-invoice/)
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(1)
    await page.reload()
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(1)
    await rows(page).click()
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/phase=cancelled&job=approve-invoice/)
    await page.getByLabel('Search runs').fill('stat:x')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('“stat:” is not a field.').waitFor()
    // Nobody can change all runs with a filter that was not understood.
    expect(await page.getByText('All that match').count()).toBe(0)
    const [run] = await world.durably.getRuns({ limit: 1 })
    await page.getByLabel('Search runs').fill(run?.id ?? '')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`#/runs/${run?.id}$`))
  })

  test('has the colours of the system, or the chosen ones, which stay', async () => {
    const world = await openWorld()
    const colourOf = (page: Page) => page.locator('durably-dashboard').evaluate((host) => getComputedStyle(host).backgroundColor)
    const dark = await open(world, '', { scheme: 'dark' })
    const light = await open(world, '', { scheme: 'light' })
    expect([await colourOf(dark), await colourOf(light)]).toEqual(['rgb(17, 17, 19)', 'rgb(251, 251, 250)'])
    await dark.getByRole('button', { name: 'Colours: auto' }).click()
    expect(await colourOf(dark)).toBe('rgb(251, 251, 250)')
    await dark.reload()
    await dark.getByRole('button', { name: 'Colours: light' }).click()
    await dark.getByRole('button', { name: 'Colours: dark' }).click()
    await dark.getByRole('button', { name: 'Colours: auto' }).waitFor()
  })

  test('has room for everything on 360 px', async () => {
    const world = await workingWorld()
    const { monthlyReport, hostile, approveInvoice } = world.jobs
    const report = await monthlyReport.triggerAndWait({ month: '2026-10' }, { labels: { tenant: 'acme' } })
    const { id } = await hostile.trigger(HOSTILE, { labels: { tenant: HOSTILE } })
    const waiting = await approveInvoice.trigger({ invoice: 'I-9', cents: 1 })
    const page = await open(world, '', { width: 360, height: 640 })
    await rows(page).getByText('Failed').first().waitFor()
    const places = ['/runs', '/jobs', '/activity', '/jobs/monthly-report', `/runs/${report.id}`, `/runs/${id}`, `/runs/${waiting.id}`]
    const tooWide: string[] = []
    for (const place of places) {
      await page.goto(`${world.address}#${place}`)
      await page.locator('main .card, main .runs').first().waitFor()
      const width = await page.locator('main').evaluate((main) => Math.max(main.scrollWidth, document.documentElement.scrollWidth))
      if (width > 360) tooWide.push(`${place} ${width}`)
    }
    expect(tooWide).toEqual([])
  })

  test('who does not see it hears a name for everything that can be pressed or filled in', async () => {
    const world = await workingWorld()
    const { id } = await world.jobs.monthlyReport.triggerAndWait({ month: '2026-10' })
    const page = await open(world)
    for (const place of ['/runs', '/jobs', '/activity', '/jobs/monthly-report', `/runs/${id}`]) {
      await page.goto(`${world.address}#${place}`)
      await page.locator('main .card, main .runs').first().waitFor()
      const nameless = await page
        .locator('button, a, input, select, summary')
        .evaluateAll((all) =>
          all.filter((one) => !(one.textContent?.trim() || one.getAttribute('aria-label'))).map(({ outerHTML }) => outerHTML),
        )
      expect(nameless).toEqual([])
    }
  })
})

test('figures of jobs say of how many runs they are, and counts are drawn over time', async () => {
  const world = await workingWorld()
  for (const width of [64, 256]) await world.jobs.resize.triggerAndWait({ image: 'a.png', width })
  const page = await open(world, '/jobs')
  await page.getByText('Figures are of all 2 runs.').waitFor()
  await page.getByRole('link', { name: 'resize-image' }).click()
  await page.getByRole('img', { name: /^Durations\. .*: \d+ runs?/ }).waitFor()
  await page.getByRole('link', { name: 'Activity' }).click()
  await page
    .getByRole('group', { name: 'Lines of the chart' })
    .getByRole('button', { name: /^Completed/ })
    .click()
  await page.getByRole('img', { name: /^Runs by phase over time; now: / }).waitFor()
  await expect.poll(() => page.locator('path.line').first().getAttribute('d'), PATIENCE).toMatch(/^M[\d.,]+L/)
})

test('1,200 runs are read a page at a time, there and back', async () => {
  const world = await openWorld()
  for (let i = 0; i < 2; i++)
    await world.jobs.quick.batchTrigger(Array.from({ length: 600 }, (_, n) => ({ payload: n, options: { labels: { big: 'yes' } } })))
  const page = await openPage(browser.context, `${world.address}#/runs?q=big%3Dyes`)
  const answered: number[] = []
  page.on('response', async (response) => {
    if (!/\/api\/runs\?/.test(response.url())) return
    const { runs } = (await response.json()) as { runs: unknown[] }
    answered.push(runs.length)
  })
  const ids = () =>
    rows(page)
      .locator('.id')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title')))
  await expect.poll(() => rows(page).count(), PATIENCE).toBe(50)
  const first = await ids()
  const seen = new Set(first)
  for (let i = 0; i < 3; i++) {
    const before = await ids()
    await page.keyboard.press('n')
    await expect.poll(ids, PATIENCE).not.toEqual(before)
    for (const id of await ids()) seen.add(id)
  }
  expect(seen.size).toBe(200)
  for (let i = 0; i < 3; i++) {
    const before = await ids()
    await page.getByRole('button', { name: 'Newer' }).click()
    await expect.poll(ids, PATIENCE).not.toEqual(before)
  }
  expect(await ids()).toEqual(first)
  // The first page is live again.
  const { id } = await world.jobs.quick.trigger(null, { labels: { big: 'yes' } })
  await expect.poll(async () => (await ids())[0], PATIENCE).toBe(id)
  expect(Math.max(...answered)).toBeLessThanOrEqual(51)
})
