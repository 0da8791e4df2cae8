// Drain — runs all there is to run, in no more real time than it takes to compute: the virtual clock leaps from moment to moment.
import type { Durably } from '../durably.ts'
import type { Run } from '../model/run.ts'
import type { VirtualEnv } from './virtual-env.ts'

/** As often as an idle worker looks. */
const LOOK_MS = 1000
/** Longer than any lease or delay of a test; what does not move for so long waits for something else. */
const PATIENCE_MS = 3_600_000
const SHOWN_MAX = 10

/**
 * Executes what is due, lets time pass, and again, until every run has ended; returns how many executions that took.
 *
 * @example await drain(durably, env)
 */
export async function drain(durably: Durably, env: VirtualEnv): Promise<number> {
  let executed = 0
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const now = await onVirtualTime(env, durably.processUntilIdle())
    if (now > 0) waitedMs = 0
    executed += now
    const left = await activeRuns(durably)
    if (left.length === 0) return executed
    if (waitedMs >= PATIENCE_MS) throw new Error(`drain: nothing happened for an hour, but not every run has ended: ${described(left)}`)
    await env.advance(LOOK_MS)
  }
}

/** The answer of `promise`, however much virtual time it takes. */
async function onVirtualTime<T>(env: VirtualEnv, promise: Promise<T>): Promise<T> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  await env.idle()
  while (!settled) await env.advance(env.nextInMs() ?? 0)
  return promise
}

async function activeRuns(durably: Durably): Promise<Run[]> {
  const running = await durably.getRuns({ status: 'running', limit: SHOWN_MAX })
  return [...running, ...(await durably.getRuns({ status: 'pending', limit: SHOWN_MAX }))]
}

function described(runs: readonly Run[]): string {
  return runs.map(({ id, jobName, phase }) => `run ${id} of job ${JSON.stringify(jobName)} is ${phase}`).join(', ')
}
