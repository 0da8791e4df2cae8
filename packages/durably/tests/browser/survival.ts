// What a database of a browser must survive, whichever dialect it is: reload, SIGKILL, tabs that come while another one writes, a
// full disk. `file` is the name of the test file; the counting page knows the dialect.
import { describe, expect, test } from 'vitest'
import type { Told } from './pages/counting.ts'
import { openCounting, SHORT_LEASE, stage } from './stage.ts'

/** The long form is `npm run torture:browser`. */
const ROUNDS = Number(process.env.BROWSER_ROUNDS ?? 3)
const TABS = Number(process.env.BROWSER_TABS ?? 4)

const textsOf = (told: readonly Told[], what: Told['what']) => told.filter((one) => one.what === what).map(({ text }) => text)

export function describeSurvival(file: string, dialect: string): void {
  describe(`${dialect} survives`, () => {
    test('a reload in the middle of a run: the new page goes on with the next step', async () => {
      const { launch } = await stage(file, dialect)
      const { tab, told, heard } = await launch()
      const page = await tab(SHORT_LEASE)
      const id = await page.evaluate(() => counting.trigger({ steps: 30, bytes: 10, pauseMs: 20 }))
      await page.evaluate(() => counting.start())
      await heard((told) => textsOf(told, 'recorded').length >= 5)
      await page.reload()
      const acknowledged = textsOf(told, 'recorded')
      const before = told.length
      await openCounting(page, SHORT_LEASE)
      expect(await page.evaluate((id) => counting.steps(id), id)).toEqual(expect.arrayContaining(acknowledged))
      await page.evaluate(() => counting.start())
      await expect.poll(() => page.evaluate((id) => counting.run(id), id), { timeout: 60_000 }).toMatchObject({ status: 'completed' })
      expect(textsOf(told.slice(before), 'executed').filter((step) => acknowledged.includes(step))).toEqual([])
    })

    test(`SIGKILL of the whole browser in the middle of a run, ${ROUNDS} times: nothing acknowledged is lost, the run goes on`, async () => {
      const { launch } = await stage(file, dialect)
      const steps = ROUNDS * 40 + 10
      const acknowledged = new Set<string>()
      let id = ''
      for (let round = 0; round <= ROUNDS; round++) {
        const browser = await launch()
        const page = await browser.tab(SHORT_LEASE)
        if (round === 0) id = await page.evaluate((steps) => counting.trigger({ steps, bytes: 100, pauseMs: 10 }), steps)
        const kept = await page.evaluate((id) => counting.steps(id), id)
        expect(
          [...acknowledged].filter((step) => !kept.includes(step)),
          `lost in round ${round}`,
        ).toEqual([])
        expect(await page.evaluate(() => counting.integrity()), `integrity in round ${round}`).toBe('ok')
        await page.evaluate(() => counting.start())
        if (round < ROUNDS) {
          // Between one and seven steps further, each time at another moment of a step.
          await browser.heard((told) => textsOf(told, 'executed').length > (round * 3) % 7)
          await new Promise((resolve) => setTimeout(resolve, (round * 7) % 30))
          await browser.sigkill()
        } else {
          await expect.poll(() => page.evaluate((id) => counting.run(id), id), { timeout: 300_000 }).toMatchObject({ status: 'completed' })
        }
        const again = textsOf(browser.told, 'executed').filter((step) => kept.includes(step))
        expect(again, `executed again in round ${round}`).toEqual([])
        for (const step of textsOf(browser.told, 'recorded')) acknowledged.add(step)
      }
      console.log(`${dialect}: ${ROUNDS} kills of the browser, ${acknowledged.size} acknowledged steps, 0 lost`)
    }, 600_000)

    test(`${TABS} tabs that are opened while another one writes: all have the same database`, async () => {
      const { launch } = await stage(file, dialect)
      const { tab, told, heard } = await launch()
      const writer = await tab()
      const id = await writer.evaluate(() => counting.trigger({ steps: 9000, bytes: 10, pauseMs: 20 }))
      await writer.evaluate(() => counting.start())
      await heard((told) => textsOf(told, 'recorded').length >= 3)
      for (let i = 0; i < TABS; i++) {
        const other = await tab()
        const written = textsOf(told, 'recorded').length
        expect(await other.evaluate(() => counting.file()), `tab ${i}`).not.toBe('')
        expect(await other.evaluate((id) => counting.run(id), id)).toMatchObject({ status: 'running' })
        const mine = await other.evaluate(() => counting.trigger({ steps: 1, bytes: 1 }))
        expect(await writer.evaluate((mine) => counting.run(mine), mine)).toMatchObject({ status: 'pending' })
        await heard((told) => textsOf(told, 'recorded').length > written)
        await other.close()
      }
    }, 600_000)

    test('a full disk: the run pauses, goes on when there is room again, and never fails', async () => {
      const { launch, origin } = await stage(file, dialect)
      const { tab, told, heard, context } = await launch()
      const page = await tab(SHORT_LEASE)
      const session = await context.newCDPSession(page)
      const id = await page.evaluate(() => counting.trigger({ steps: 30, bytes: 300_000, pauseMs: 20 }))
      await page.evaluate(() => counting.start())
      await heard((told) => textsOf(told, 'recorded').length >= 2)
      await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 })
      // For longer than the lease, so that it is lost and the run must be claimed again.
      await heard((told) => {
        const errors = told.filter(({ what }) => what === 'error')
        return (errors.at(-1)?.at ?? 0) - (errors[0]?.at ?? 0) > 1.5 * SHORT_LEASE.staleThreshold
      })
      expect(textsOf(told, 'error').join('\n')).toMatch(/full/)
      expect(await page.evaluate((id) => counting.run(id), id)).toMatchObject({ status: expect.stringMatching(/running|pending/) })
      await session.send('Storage.overrideQuotaForOrigin', { origin })
      await expect.poll(() => page.evaluate((id) => counting.run(id), id), { timeout: 60_000 }).toMatchObject({ status: 'completed' })
    })
  })
}
