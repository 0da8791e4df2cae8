// Any API process sees the same run, at once.
import { deepStrictEqual } from 'node:assert/strict'
import type { FleetProcess } from '../process.ts'
import type { Rig } from '../rig.ts'
import type { Scenario } from '../scenario.ts'

export const anyInstance: Scenario = {
  name: 'any instance sees the same run at once',
  async play({ rig, isShort }) {
    const [a, b] = rig.apis
    if (!a || !b) throw new Error('two API processes are needed')
    const runs = isShort ? 10 : 100
    for (let n = 0; n < runs; n++) await (n % 2 === 0 ? seenByBoth(rig, a, b, n) : seenByBoth(rig, b, a, n))
    deepStrictEqual(await rig.clientOf(a).getRuns({ limit: runs }), await rig.clientOf(b).getRuns({ limit: runs }))
    for (const { id } of await rig.client().getRuns({ limit: runs })) await rig.client().cancel(id)
    return { runs }
  },
}

async function seenByBoth(rig: Rig, one: FleetProcess, other: FleetProcess, count: number): Promise<void> {
  const input = { count, everyMs: 0 }
  // Far in the future, so that the run does not change while both read it.
  const { id } = await rig.clientOf(one).trigger('steps', input, { delay: '1h' })
  const [seen, seenToo] = await Promise.all([rig.clientOf(other).getRun(id), rig.clientOf(one).getRun(id)])
  deepStrictEqual(seen, seenToo)
  deepStrictEqual(seen?.payload, input)
}
