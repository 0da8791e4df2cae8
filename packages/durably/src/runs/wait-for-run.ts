// Waits for a run to end, wherever it executes. A notification only wakes the waiter, which then reads the run from the store.
import type { RunWatch } from '../events/run-watch.ts'
import { type Env, within } from '../model/env.ts'
import { DurablyError, isPassing } from '../model/errors.ts'
import { isTerminal, type RunRow } from '../model/run.ts'
import type { RunStore } from '../store/runs.ts'

export interface WaitDeps {
  runs: RunStore
  env: Env
  watch: RunWatch
}

/** How long it waits while the store is unavailable. */
const AGAIN_MS = 1000

/** The run's row once it has ended. */
export async function waitForRun({ runs, env, watch }: WaitDeps, runId: string, timeoutMs = Number.POSITIVE_INFINITY): Promise<RunRow> {
  const began = env.mono()
  for (;;) {
    const { changed, done } = watch.next(runId, true)
    try {
      const run = await readRun(runs, runId)
      if (run && isTerminal(run.status)) return run
      const left = timeoutMs - (env.mono() - began)
      if (left <= 0) {
        throw new DurablyError('wait_timeout', `run ${runId} did not end within ${timeoutMs} ms; it goes on, look at it with getRun()`, {
          runId,
        })
      }
      // What was not read may have been the end, and the end wakes its waiters once.
      await within(env, run ? left : Math.min(left, AGAIN_MS), changed)
    } finally {
      done()
    }
  }
}

/** `null` while the store is unavailable. */
async function readRun(runs: RunStore, runId: string): Promise<RunRow | null> {
  let run: RunRow | null
  try {
    run = await runs.get(runId)
  } catch (error) {
    if (isPassing(error)) return null
    throw error
  }
  if (!run) throw new DurablyError('run_deleted', `run ${runId} was deleted while it was waited for`, { runId })
  return run
}
