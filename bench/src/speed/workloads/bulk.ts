import type { OpenEngine } from '../contender.ts'
import type { Place } from '../place.ts'
import { type Figure, rate, type Workload } from '../workload.ts'

export async function measureBulk(open: OpenEngine, { runs }: Extract<Workload, { kind: 'bulk' }>, place: Place): Promise<Figure> {
  const engine = await open(place, { steps: 0, concurrency: 1, tick: () => {} })
  if (!engine.enqueueMany) throw new Error('creates runs one by one only')
  const warmUp = Math.floor(runs / 10)
  await engine.enqueueMany(warmUp)
  const began = performance.now()
  await engine.enqueueMany(runs)
  const ms = performance.now() - began
  if ((await engine.unfinished()) !== warmUp + runs) throw new Error('not every run that was acknowledged is stored')
  return rate(runs, ms)
}
