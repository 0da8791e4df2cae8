// Both API processes are killed in the middle of a stream and started again: the client notices nothing but a pause.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyRunView, type RunView, reduceRun } from '@coji/durably/client'
import { storyOf } from '../jobs.ts'
import type { Scenario } from '../scenario.ts'

const WORDS = 200

export const apisKilled: Scenario = {
  name: 'both API processes are killed and come back, the transcript is equal',
  async play({ rig }) {
    const client = rig.client()
    const { id } = await client.trigger('story', { words: WORDS, everyMs: 20 })
    let view: RunView = emptyRunView
    let restarted: Promise<void> | null = null
    const before = rig.proxy.figures.requests
    for await (const event of client.subscribe(id)) {
      view = reduceRun(view, event)
      if (restarted === null && view.streams.tell?.text) restarted = restart()
    }
    ok(restarted, 'nobody was killed')
    await restarted
    deepStrictEqual(view.streams.tell?.text, storyOf(WORDS))
    deepStrictEqual(view.status, 'completed')
    return { requests: rig.proxy.figures.requests - before }

    async function restart(): Promise<void> {
      await rig.killApis()
      await sleep(1000)
      await Promise.all([rig.startApi(), rig.startApi()])
    }
  },
}
