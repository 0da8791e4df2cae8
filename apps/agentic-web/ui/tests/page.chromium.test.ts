// The page is used as a person would: with the demo model, real tools, a reload and a crash in the middle of an answer.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPage, openBrowser, openPage, Site } from './site.ts'

const SOON = { timeout: 60_000, interval: 50 }
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const site = new Site()
beforeAll(async () => {
  await buildPage()
  await site.start()
}, 120_000)
afterAll(() => site.close())

const answers = (page: Page) => page.getByRole('article', { name: 'Answer' })
const answer = (page: Page) => answers(page).last()
const words = async (page: Page) => (await answer(page).locator('.markdown').allTextContents()).join('').match(/word-\d+/g) ?? []
const pill = (page: Page) => page.locator('.pill').first().textContent()
const numbered = (n: number) => Array.from({ length: n }, (_, i) => `word-${i + 1}`)

const isAtEnd = (page: Page) =>
  page.getByRole('log').evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 2)

/** With the keyboard alone. */
async function send(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: 'Your message' }).filter({ hasText: text }).last().waitFor()
}

async function seriousProblems(page: Page): Promise<string[]> {
  // By the debugger, which the page's Content-Security-Policy does not bind.
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

test('an answer is reloaded in the middle, another is stopped: the text is complete and never doubled', async () => {
  const page = await openPage(await openBrowser(), site)
  await page.getByText('Demo model: scripted, not an AI').waitFor()
  await send(page, '!slow 40')
  for (const n of [5, 15, 25]) {
    await expect.poll(async () => (await words(page)).length, SOON).toBeGreaterThanOrEqual(n)
    await page.reload()
    await expect.poll(async () => (await words(page)).length, SOON).toBeGreaterThanOrEqual(n)
  }
  await expect.poll(() => pill(page), SOON).toBe('Ready')
  expect(await words(page)).toEqual(numbered(40))
  await expect.poll(() => isAtEnd(page), SOON).toBe(true)
  await page.reload()
  await expect.poll(() => words(page), SOON).toEqual(numbered(40))

  await send(page, '!slow 500')
  await expect.poll(async () => (await words(page)).length, SOON).toBeGreaterThanOrEqual(5)
  await page.getByRole('button', { name: 'Stop' }).click()
  await answer(page).getByText('Stopped').waitFor()
  await expect.poll(() => pill(page), SOON).toBe('Ready')
  const kept = await words(page)
  expect(kept).toEqual(numbered(kept.length))
  await page.reload()
  await answer(page).getByText('Stopped').waitFor()
  expect(await words(page)).toEqual(kept)
})

test('the program is killed in the middle of an answer and started again: the page reconnects and the answer goes on', async () => {
  const page = await openPage(await openBrowser(), site)
  await send(page, '!slow 40')
  await expect.poll(async () => (await words(page)).length, SOON).toBeGreaterThanOrEqual(5)
  await site.kill()
  await page.getByText('Reconnecting…').waitFor()
  expect(await pill(page)).toBe('Working')
  await site.start()
  await page.locator('.pill', { hasText: 'Worker restarted, continuing' }).waitFor()
  await expect.poll(() => pill(page), SOON).toBe('Ready')
  expect(await words(page)).toEqual(numbered(40))
  await answer(page).getByRole('button', { name: 'Details' }).click()
  const details = page.getByRole('dialog', { name: 'Run details' })
  await details.getByText('2 attempts').waitFor()
  await details.getByText(/lost at/).waitFor()
})

test('tools write files, the session is found, settings and details open, and a narrow page shows no less', async () => {
  const page = await openPage(await openBrowser(), site)
  await page.getByRole('button', { name: 'write notes.txt: buy milk' }).click()
  await expect.poll(() => pill(page), SOON).toBe('Ready')
  await answer(page).locator('summary', { hasText: 'write' }).click()
  await answer(page).getByText('"content": "buy milk\\n"').waitFor()
  await page.getByRole('button', { name: 'Files', exact: true }).click()
  await page.getByRole('button', { name: 'notes.txt', exact: true }).click()
  await page.locator('.file .code', { hasText: 'buy milk' }).waitFor()
  expect(await seriousProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Close files' }).click()

  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('milk')
  await page.getByText(/^1 visible/).waitFor()
  await page.getByRole('textbox', { name: 'Message' }).fill('/help')
  await page.keyboard.press('Enter')
  await page.getByText('/new: Begin a new session').waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 640 })
  await expect.poll(() => isAtEnd(page), SOON).toBe(true)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await page.getByRole('button', { name: 'Sessions', exact: true }).click()
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('dialog', { name: 'Settings' }).getByText('a script, not an AI').waitFor()
  expect(await seriousProblems(page)).toEqual([])
  const provider = page.getByRole('combobox', { name: 'Provider' })
  await provider.selectOption('openai-compatible')
  await page.getByRole('textbox', { name: 'Address of the server' }).fill('http://localhost:11434/v1')
  await provider.selectOption('demo')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => page.getByRole('dialog').count(), SOON).toBe(0)
})

test('a tool waits for approval through a reload and a crash, and a warning of the sandbox is shown', async () => {
  const page = await openPage(await openBrowser(), site)
  const question = page.getByRole('region', { name: 'May the model use sql?' })
  await send(page, 'sql: select 6 * 7 as answer')
  await question.getByText('select 6 * 7 as answer').waitFor()
  await expect.poll(() => pill(page), SOON).toBe('Waiting for approval')
  expect(await seriousProblems(page)).toEqual([])
  await page.reload()
  await question.waitFor()
  await site.kill()
  await site.start()
  await question.getByRole('button', { name: 'Approve' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => pill(page), SOON).toBe('Ready')
  expect(await answer(page).locator('.markdown').allTextContents()).toContainEqual(expect.stringContaining('42'))
  expect(await question.count()).toBe(0)

  await page.setViewportSize({ width: 360, height: 640 })
  await send(page, `sql: drop table ${'students'.repeat(20)}`)
  await question.waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await question.getByRole('button', { name: 'Deny' }).press('Space')
  await answer(page).getByText('The user denied this call').last().waitFor()
  await expect.poll(() => pill(page), SOON).toBe('Ready')

  await send(page, 'read ../../etc/passwd')
  await answer(page).getByText('sandbox warning').waitFor()
  await page.reload()
  await answer(page).getByText('sandbox warning').waitFor()
  await answer(page).locator('summary', { hasText: 'read' }).click()
  await answer(page).getByText('Sandbox: ../../etc/passwd is outside of the workspace').waitFor()
  expect(await seriousProblems(page)).toEqual([])
})
