// While a worker executes as many runs as it can, timers of the same process must still fire: heartbeats and other requests depend on them.
import { anything } from '../anything.ts'
import { completed, type Limit, openEngine } from './limit.ts'

const RUNS = 10_000
const EVERY_MS = 5

export const lateTimers: Limit = {
  title: `a timer of ${EVERY_MS} ms during a drain of ${RUNS.toLocaleString('en')} runs is late by at most`,
  unit: 'ms',
  most: 30,
  async measure(store) {
    const durably = await openEngine(store, 100)
    const job = durably.defineJob({ name: 'job', input: anything }, async () => {})
    await job.batchTrigger(Array.from({ length: RUNS }, (_, i) => ({ payload: i })))
    const drained = completed(durably, RUNS)
    const stopped = watchTimers()
    durably.start()
    await drained
    const lateMs = stopped()
    await durably[Symbol.asyncDispose]()
    return lateMs
  },
}

/** Returns a function that stops it, and says by how much the latest timer was late. */
function watchTimers(): () => number {
  let lateMs = 0
  let timer: ReturnType<typeof setTimeout>
  const next = () => {
    const due = performance.now() + EVERY_MS
    timer = setTimeout(() => {
      lateMs = Math.max(lateMs, performance.now() - due)
      next()
    }, EVERY_MS)
  }
  next()
  return () => {
    clearTimeout(timer)
    return lateMs
  }
}
