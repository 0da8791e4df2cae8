// Health — whether this process does its work, and whether the store lets it. Loaded when it is first asked for.
import type { Engine } from './engine.ts'
import { iso, within } from './model/env.ts'
import { hasCode } from './model/errors.ts'
import { failureOf } from './model/failure.ts'
import type { OldestDue } from './store/runs.ts'

/** A caller that asks for the health does not wait longer. */
const ANSWER_MS_MAX = 2000

/** What `health()` returns, for a probe or a dashboard. */
export interface Health {
  /**
   * False if the worker's loop has not gone round for too long, or if every slot is held by a function that was asked to stop and does not:
   * restart the process. True if no worker was started.
   */
  isAlive: boolean
  /** Whether the store answers, its tables are up to date, and the worker was started. */
  isReady: boolean
  /** Whether the database answers. */
  store: StoreHealth
  /** What the worker of this instance does. */
  worker: WorkerHealth
  /**
   * Of the runs of the jobs defined here, the one that is due for longest and not yet claimed, and how long that is in milliseconds
   * (`lagMs`). It may wait for its concurrency key. Null if none is due.
   */
  oldestDue: { runId: string; jobName: string; dueAt: string; lagMs: number } | null
}

/** Whether the database answers, as part of `health()`. */
export interface StoreHealth {
  /** Whether the store answered within two seconds. */
  isReachable: boolean
  /** Whether the tables are there and up to date. Null if the store did not answer. */
  isMigrated: boolean | null
  /** How long the store took to answer, in milliseconds. Null if it did not answer. */
  answeredInMs: number | null
  /** The message of the error, if there was one. */
  error: string | null
}

/** What the worker of this instance does, as part of `health()`. */
export interface WorkerHealth {
  /** Whether `start()` was called, and `stop()` was not. */
  isStarted: boolean
  /** Whether this instance may execute. False while another tab of the browser executes, and this one waits for its turn. */
  isLeading: boolean
  /** How many runs it executes at once: the option `concurrency`. */
  slots: number
  /** How many runs it executes now. */
  busySlots: number
  /** How many runs were asked to stop longer than a lease ago, but their function has not returned. */
  stuckSlots: number
  /** How long ago the worker's loop last went round, in milliseconds. Null if no worker was started. */
  silentMs: number | null
}

export async function healthOf(engine: Engine): Promise<Health> {
  const worker = workerHealth(engine)
  const { store, oldest } = await storeHealth(engine)
  return {
    isAlive: isAlive(engine, worker),
    isReady: worker.isStarted && isUsable(store),
    store,
    worker,
    oldestDue: oldest && { runId: oldest.id, jobName: oldest.jobName, dueAt: iso(oldest.runAt), lagMs: oldest.lagMs },
  }
}

export function workerHealth({ worker, env, concurrency: slots }: Engine): WorkerHealth {
  const { vitals } = worker
  if (!vitals?.isStarted) return { isStarted: false, isLeading: false, slots, busySlots: 0, stuckSlots: 0, silentMs: null }
  const { turnedAt, ...rest } = vitals
  return { ...rest, slots, silentMs: env.mono() - turnedAt }
}

/** It may be silent while it sleeps between two looks, and as long as a database may take to answer. */
export function isAlive({ leaseMs, pollingMs, heartbeatMs }: Engine, worker: WorkerHealth): boolean {
  const { isStarted, isLeading, silentMs, slots, stuckSlots } = worker
  if (!isStarted || !isLeading) return true
  return (silentMs ?? 0) <= leaseMs + Math.max(pollingMs, heartbeatMs) && stuckSlots < slots
}

export function isUsable({ isReachable, isMigrated }: StoreHealth): boolean {
  return isReachable && isMigrated === true
}

/** One read shows whether the store answers, how fast, and which run has waited for longest. */
export async function storeHealth({ store, env, jobs }: Engine): Promise<{ store: StoreHealth; oldest: OldestDue | null }> {
  const began = env.mono()
  let oldest: OldestDue | null = null
  const asked = store.runs.oldestDue([...jobs.keys()]).then((answer) => {
    oldest = answer
  })
  const health = (isMigrated: boolean | null, isReachable: boolean, error: string | null) => ({
    store: { isReachable, isMigrated, answeredInMs: isReachable ? env.mono() - began : null, error },
    oldest,
  })
  try {
    if (await within(env, ANSWER_MS_MAX, asked)) return health(true, true, null)
    return health(null, false, `the store did not answer within ${ANSWER_MS_MAX} ms`)
  } catch (error) {
    const isMissing = hasCode(error, 'not_migrated')
    return health(isMissing ? false : null, isMissing, failureOf(error).message)
  }
}
