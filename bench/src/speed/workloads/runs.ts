import type { Engine, OpenEngine } from '../contender.ts'
import type { Place } from '../place.ts'
import { Tally } from '../tally.ts'
import type { Figure, Workload } from '../workload.ts'

const FILLED_AT_ONCE = 20
/** A poller may need so long until it looks for the first time. */
const FIRST_LOOK_MS = 3000

export async function measureRuns(open: OpenEngine, workload: Extract<Workload, { kind: 'runs' }>, place: Place): Promise<Figure> {
  const { runs, steps, concurrency, capMs } = workload
  const tally = new Tally(runs * Math.max(1, steps), capMs)
  const engine = await open(place, { steps, concurrency, tick: tally.tick })
  await fill(engine, runs)
  setTimeout(() => tally.stop(), FIRST_LOOK_MS + capMs)
  await engine.start()
  await tally.done
  if (!tally.capped) while ((await engine.unfinished()) > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  return tally.figure()
}

async function fill(engine: Engine, runs: number): Promise<void> {
  if (engine.enqueueMany && runs > 1) return void (await engine.enqueueMany(runs))
  let next = 0
  const filler = async () => {
    while (next < runs) await engine.enqueue(next++)
  }
  await Promise.all(Array.from({ length: FILLED_AT_ONCE }, filler))
}
