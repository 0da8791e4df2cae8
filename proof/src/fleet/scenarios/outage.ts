// The load balancer answers 502 for a while: the page says so, and comes back by itself, with the same text.
import { deepStrictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { storyOf } from '../jobs.ts'
import type { Scenario } from '../scenario.ts'

const WORDS = 150

export const outage: Scenario = {
  name: 'a page outlasts 502s by itself',
  async play({ rig, chromium, isShort }) {
    const outageMs = isShort ? 2000 : 5000
    const { id } = await rig.client().trigger('story', { words: WORDS, everyMs: (outageMs * 2) / WORDS })
    await using page = await chromium.open(`${rig.proxy.url}/#${id}`)
    await page.shows('running')
    rig.proxy.beginOutage()
    await page.shows('reconnecting').finally(() => sleep(outageMs))
    rig.proxy.endOutage()
    const began = performance.now()
    await page.shows('live')
    const recovered = { ms: performance.now() - began, boundMs: 3000 }
    await page.shows('completed')
    deepStrictEqual(await page.transcript(), storyOf(WORDS))
    return { outageMs, recovered, answersOf502: rig.proxy.figures.outageAnswers }
  },
}
