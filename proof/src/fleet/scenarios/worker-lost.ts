// A worker that is killed in the middle of a stream is replaced; finished steps are not called again, and no text is doubled.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { emptyRunView, type RunView, reduceRun } from '@coji/durably/client'
import { storyOf } from '../jobs.ts'
import { LEASE_MS } from '../rig.ts'
import type { Scenario } from '../scenario.ts'

const WORDS = 100

export const workerKilled: Scenario = {
  name: 'a worker killed in the middle of a stream is replaced',
  async play({ rig }) {
    const client = rig.client()
    const { id } = await client.trigger('story', { words: WORDS, everyMs: 20 })
    let view: RunView = emptyRunView
    let killedAt: number | null = null
    let resumedMs = Number.POSITIVE_INFINITY
    for await (const event of client.subscribe(id)) {
      view = reduceRun(view, event)
      if (killedAt === null && (view.streams.tell?.text.length ?? 0) > storyOf(30).length) {
        const owner = await rig.ownerOf(id)
        killedAt = performance.now()
        await rig.killWorker(owner)
        await rig.startWorker()
      } else if (killedAt !== null && event.type === 'run:start') resumedMs = Math.min(resumedMs, performance.now() - killedAt)
    }
    ok(killedAt !== null, 'nobody was killed')
    deepStrictEqual(view.streams.tell?.text, storyOf(WORDS))
    deepStrictEqual(view.output, storyOf(WORDS))
    deepStrictEqual(await rig.callsOf(id), { plan: 1, tell: 2, close: 1 })
    return { resumed: { ms: resumedMs, boundMs: LEASE_MS + 2000 }, finishedStepsCalledAgain: 0 }
  },
}

export const workerFrozen: Scenario = {
  name: 'a worker that was frozen past its lease writes nothing when it wakes up',
  async play({ rig }) {
    const client = rig.client()
    const { id } = await client.trigger('story', { words: WORDS, everyMs: 20 })
    const owner = await rig.ownerOf(id)
    let view: RunView = emptyRunView
    let isFrozen = false
    let isAwake = false
    for await (const event of client.subscribe(id)) {
      view = reduceRun(view, event)
      if (!isFrozen && (view.streams.tell?.text.length ?? 0) > storyOf(20).length) {
        owner.freeze()
        isFrozen = true
      } else if (isFrozen && !isAwake && event.type === 'stream:chunk' && (await rig.ownerOf(id)) !== owner) {
        owner.wake()
        isAwake = true
      }
    }
    ok(isAwake, 'it was never replaced')
    deepStrictEqual(view.streams.tell?.text, storyOf(WORDS))
    const { rows } = await rig.database.query('SELECT payload FROM run_events WHERE run_id = $1 ORDER BY seq', [id])
    const generations = rows.flatMap(({ payload }) => (JSON.parse(payload) as { generation?: number }).generation ?? [])
    deepStrictEqual(
      generations,
      generations.toSorted((a, b) => a - b),
    )
    return { generations: Math.max(...generations), writesOfTheFrozenOne: 0 }
  },
}
