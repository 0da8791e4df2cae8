// An event stream that is cut every few events, and goes on from another API process, is equal to the table: no gap, no double.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { emptyRunView, reduceRun } from '@coji/durably/client'
import { storyOf } from '../jobs.ts'
import { readRaw } from '../raw-stream.ts'
import type { Rig } from '../rig.ts'
import type { Scenario } from '../scenario.ts'

const CUT_AFTER = 4

export const cutStream: Scenario = {
  name: 'a stream that is cut every few events and goes on elsewhere is equal to the table',
  async play({ rig, isShort }) {
    const count = isShort ? 30 : 200
    rig.proxy.cutStreamsAfter(CUT_AFTER)
    try {
      const { id } = await rig.client().trigger('steps', { count, everyMs: 5 })
      const { events, connections } = await readRaw(`${rig.proxy.url}/api/runs/${id}/events`)
      deepStrictEqual(
        events.map((event) => event.id),
        await sequencesOf(rig, id),
      )
      // What one process serves in one piece, from the table as it stands now.
      rig.proxy.cutStreamsAfter(Number.POSITIVE_INFINITY)
      const whole = await readRaw(`${rig.proxy.url}/api/runs/${id}/events`)
      deepStrictEqual(events, whole.events)
      deepStrictEqual(JSON.parse(whole.done), { status: 'completed' })
      ok(connections > count / CUT_AFTER, `it was cut only ${connections - 1} times`)
      return { events: events.length, reconnects: connections - 1, gaps: 0, doubles: 0, ...(await story(rig, isShort ? 60 : 300)) }
    } finally {
      rig.proxy.cutStreamsAfter(Number.POSITIVE_INFINITY)
    }
  },
}

/** The chunks of a recorded stream are replaced by one. The text that arrived in pieces must be the same. */
async function story(rig: Rig, words: number) {
  rig.proxy.cutStreamsAfter(CUT_AFTER)
  const client = rig.client()
  const { id } = await client.trigger('story', { words, everyMs: 5 })
  let view = emptyRunView
  const sequences: number[] = []
  for await (const event of client.subscribe(id)) {
    view = reduceRun(view, event)
    sequences.push(event.sequence)
  }
  deepStrictEqual(view.streams.tell?.text, storyOf(words))
  deepStrictEqual(view.status, 'completed')
  deepStrictEqual(
    sequences,
    sequences.toSorted((a, b) => a - b).filter((sequence, i, all) => sequence !== all[i - 1]),
  )
  return { storyEvents: sequences.length, cuts: rig.proxy.figures.cuts }
}

async function sequencesOf(rig: Rig, runId: string): Promise<number[]> {
  const { rows } = await rig.database.query('SELECT seq FROM run_events WHERE run_id = $1 ORDER BY seq', [runId])
  return rows.map(({ seq }) => Number(seq))
}
