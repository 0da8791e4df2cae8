// Executing runs without `start()`, for serverless functions and tests. Loaded when it is first asked for.
import type { Engine } from './engine.ts'
import { type UntilIdleOptions, processUntilIdle as untilIdle } from './worker/loop/process-until-idle.ts'

export function processOne(engine: Engine): Promise<boolean> {
  return settled(engine, async () => (await engine.worker.loaded()).processOne())
}

export function processUntilIdle(engine: Engine, options?: UntilIdleOptions): Promise<number> {
  return settled(engine, async () => untilIdle(await engine.worker.loaded(), engine, options))
}

/** A worker that was not started may not come again soon, so nothing is left unwritten, and no process waits for the end of its lease. */
async function settled<T>({ worker, duties, logLines, logged }: Engine, work: () => Promise<T>): Promise<T> {
  duties.isOver = false
  try {
    return await work()
  } finally {
    if (!worker.isWorking) await duties.resign()
    await logLines.drain()
    await logged()
  }
}
