import { durationMs } from '../model/duration.ts'
import { type Env, iso, type TimerHandle } from '../model/env.ts'
import type { Job } from '../model/job.ts'
import type { Execution } from './execution.ts'

/** Stops an execution when its time, or that of its run, is over. */
export function limitTime(env: Env, execution: Execution, { timeout }: Job): { stop(): void } {
  const { id, deadlineAt } = execution.run
  if (timeout === undefined && deadlineAt === null) return NO_LIMIT
  const handles = new Set<TimerHandle>()
  const stopAt = (end: number, why: string) => {
    const left = end - execution.storeNowAtLeast()
    if (left <= 0) return execution.timeOut(`run ${id} is out of time: ${why}`)
    // A timer may be shorter than it was asked to be (model/env.ts).
    const handle = env.timer(left, () => {
      handles.delete(handle)
      stopAt(end, why)
    })
    handles.add(handle)
  }
  if (timeout !== undefined) stopAt(execution.storeNowAtLeast() + durationMs('timeout', timeout), `its timeout is ${timeout}`)
  if (deadlineAt !== null) stopAt(deadlineAt, `its deadline was ${iso(deadlineAt)}`)
  return {
    stop() {
      for (const handle of handles) env.clear(handle)
    },
  }
}

const NO_LIMIT = { stop() {} }
