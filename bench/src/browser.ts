// One durable step in a browser, beside one INSERT through SQLocal, on the same page of the same Chromium. Then a run of a
// thousand steps on both dialects. The page does the work (`browser-page.ts`); here is the browser around it.
import { launchChromium, temporaryProfile } from '../dist/chromium/chromium.js'
import { bundlePage, servePage } from '../dist/chromium/page-server.js'
import type { BrowserFigures } from './browser-page.ts'
import { summary } from './summary.ts'

const { profile, remove } = temporaryProfile()
const server = await servePage(await bundlePage('bench', new URL('browser-page.js', import.meta.url)), { isolated: true })
const browser = await launchChromium(profile)
try {
  const page = await browser.context.newPage()
  await page.goto(server.origin)
  await page.waitForFunction(() => 'measure' in globalThis)
  const figures = (await page.evaluate(() => (globalThis as unknown as { measure(): Promise<BrowserFigures> }).measure())) as BrowserFigures
  const { insert, step, stepRelaxed, stepOfFollower, stepOfSqlocal, thousandSteps } = figures
  const ratio = (values: readonly number[]) => `${(median(values) / median(insert)).toFixed(3)} × the INSERT`
  console.log(`INSERT through SQLocal      ${summary(insert)}`)
  console.log(`step, browserDialect        ${summary(step)}: ${ratio(step)}`)
  console.log(`step, durability relaxed    ${summary(stepRelaxed)}: ${ratio(stepRelaxed)}`)
  console.log(`step of a following tab     ${summary(stepOfFollower)}: ${ratio(stepOfFollower)}`)
  console.log(`step, SQLocal               ${summary(stepOfSqlocal)}: ${ratio(stepOfSqlocal)}`)
  console.log(`run of 1,000 steps          browserDialect ${seconds(thousandSteps.browser)}, SQLocal ${seconds(thousandSteps.sqlocal)}`)
} finally {
  await browser.close()
  await server.close()
  remove()
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
