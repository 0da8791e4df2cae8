// Many runs, and workers that are killed at random: every run ends, with exactly one end, and it is the last event of its log.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../rig.ts'
import type { Scenario } from '../scenario.ts'

const ENDS = ['run:complete', 'run:fail', 'run:cancel']
const KILL_EVERY_MS = 700

export const chaos: Scenario = {
  name: 'runs whose workers are killed at random all end, once',
  async play({ rig, isShort }) {
    const client = rig.client()
    const random = seeded(7)
    const runs = await Promise.all(
      Array.from({ length: isShort ? 10 : 30 }, (_, n) =>
        n % 2 === 0
          ? client.trigger('story', { words: 40 + Math.floor(random() * 60), everyMs: 10 })
          : client.trigger('steps', { count: 5 + Math.floor(random() * 20), everyMs: 20 }),
      ),
    )
    let kills = 0
    const kill = async () => {
      const victim = rig.workers[Math.floor(random() * rig.workers.length)]
      if (!victim) return
      await rig.killWorker(victim)
      await rig.startWorker()
      kills++
    }
    for (let n = 0; n < (isShort ? 3 : 10); n++) {
      await sleep(KILL_EVERY_MS)
      await kill()
    }
    for (const { id } of runs) {
      const run = await until(async () => {
        const run = await client.getRun(id)
        return run && ['completed', 'failed', 'cancelled'].includes(run.status) && run
      })
      deepStrictEqual(run.status, 'completed', `run ${id}: ${run.error}`)
      const { rows } = await rig.database.query('SELECT event_type FROM run_events WHERE run_id = $1 ORDER BY seq', [id])
      const types = rows.map(({ event_type }) => event_type as string)
      deepStrictEqual(types.filter((type) => ENDS.includes(type)).length, 1)
      ok(ENDS.includes(types.at(-1) ?? ''), `run ${id} ends with ${types.at(-1)}`)
    }
    const { rows } = await rig.database.query("SELECT count(*)::int AS running FROM runs WHERE status = 'running'")
    deepStrictEqual(rows[0]?.running, 0)
    return { runs: runs.length, kills, ended: runs.length }
  },
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
