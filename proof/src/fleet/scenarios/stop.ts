// Stop stops: asked of another API process, after a reload of the page, and while the run is still queued.
import { deepStrictEqual } from 'node:assert/strict'
import { until } from '../rig.ts'
import type { Scenario } from '../scenario.ts'

const STOP_MS = 1500

export const stopElsewhere: Scenario = {
  name: 'stop on another instance stops',
  async play({ rig }) {
    const [a, b] = rig.apis
    if (!a || !b) throw new Error('two API processes are needed')
    const { id } = await rig.clientOf(a).trigger('hold', {})
    await rig.ownerOf(id)
    const began = performance.now()
    let last = ''
    const seen = (async () => {
      for await (const { type } of rig.clientOf(a).subscribe(id)) last = type
    })()
    await rig.clientOf(b).cancel(id)
    await seen
    deepStrictEqual(last, 'run:cancel')
    return { stopped: { ms: performance.now() - began, boundMs: STOP_MS } }
  },
}

export const stopQueued: Scenario = {
  name: 'stop while queued: it never starts',
  async play({ rig }) {
    const client = rig.client()
    const holder = await client.trigger('hold', {}, { concurrencyKey: 'one at a time' })
    await rig.ownerOf(holder.id)
    const queued = await client.trigger('hold', {}, { concurrencyKey: 'one at a time' })
    const began = performance.now()
    deepStrictEqual(await client.cancel(queued.id), 'cancelled')
    const ms = performance.now() - began
    await client.cancel(holder.id)
    await until(async () => (await client.getRun(holder.id))?.status === 'cancelled')
    deepStrictEqual(await rig.callsOf(queued.id), {})
    return { stopped: { ms, boundMs: STOP_MS } }
  },
}

export const stopAfterReload: Scenario = {
  name: 'stop after a reload of the page stops',
  async play({ rig, chromium }) {
    const { id } = await rig.client().trigger('hold', {})
    await rig.ownerOf(id)
    await using page = await chromium.open(`${rig.proxy.url}/#${id}`)
    await page.shows('running')
    await page.reload()
    await page.shows('running')
    const began = performance.now()
    await page.stop()
    await page.shows('cancelled')
    return { stopped: { ms: performance.now() - began, boundMs: STOP_MS } }
  },
}
