import { median } from '../../summary.ts'
import type { OpenEngine } from '../contender.ts'
import type { Place } from '../place.ts'
import type { Figure, Workload } from '../workload.ts'

/** Long enough for a worker to be idle again. */
const PAUSE_MS = 30

/** `pollMs`: how often an idle worker looks, where nothing wakes it. Arrivals are spread over that time. */
export async function measureLatency(
  open: OpenEngine,
  { samples, capMs }: Extract<Workload, { kind: 'latency' }>,
  place: Place,
  pollMs: number,
): Promise<Figure> {
  let begun = () => {}
  const engine = await open(place, { steps: 0, concurrency: 10, tick: () => begun() })
  await engine.start()
  await pause(200)
  const latencies: number[] = []
  const started = performance.now()
  // The first one warms the process up.
  while (latencies.length <= samples && (latencies.length < 3 || performance.now() - started < capMs)) {
    const handled = new Promise<number>((resolve) => {
      begun = () => resolve(performance.now())
    })
    const created = performance.now()
    await engine.enqueue(latencies.length)
    latencies.push((await handled) - created)
    await pause(PAUSE_MS + Math.random() * pollMs)
  }
  const kept = latencies.slice(1)
  return { value: median(kept), unit: 'ms', of: kept.length, ...(kept.length < samples && { capped: true as const }) }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
