import { expect, test } from 'vitest'
import { stage } from './stage.ts'
import { describeSurvival } from './survival.ts'

describeSurvival('sqlocal', 'sqlocal')

test('without COOP and COEP the database would be in memory: that is said, and accepted only when asked', async () => {
  const { launch } = await stage('sqlocal', 'sqlocal', { isolated: false })
  const { tab } = await launch()
  await expect(tab()).rejects.toThrow('"durably.sqlite3" in memory, not on OPFS')
  await expect(tab()).rejects.toThrow('Cross-Origin-Opener-Policy: same-origin')
  const page = await tab({ allowMemory: true })
  expect(await page.evaluate(() => counting.file())).toBe('')
  const id = await page.evaluate(() => counting.trigger({ steps: 1, bytes: 1 }))
  expect(await page.evaluate((id) => counting.run(id), id)).toMatchObject({ status: 'pending' })
})
