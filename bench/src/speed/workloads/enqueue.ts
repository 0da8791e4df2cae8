import type { OpenEngine } from '../contender.ts'
import type { Place } from '../place.ts'
import { Tally } from '../tally.ts'
import type { Figure, Workload } from '../workload.ts'

export async function measureEnqueue(open: OpenEngine, workload: Extract<Workload, { kind: 'enqueue' }>, place: Place): Promise<Figure> {
  const { runs, inFlight, capMs } = workload
  const engine = await open(place, { steps: 0, concurrency: 1, tick: () => {} })
  const tally = new Tally(runs, capMs)
  let next = 0
  const caller = async () => {
    while (next < runs && !tally.capped) {
      await engine.enqueue(next++)
      tally.tick()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, caller))
  if (!tally.capped && (await engine.unfinished()) !== runs) throw new Error('not every run that was acknowledged is stored')
  return tally.figure()
}
