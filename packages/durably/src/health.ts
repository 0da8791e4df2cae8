// Health — whether this process does its work, and whether the store lets it. Loaded when it is first asked for.
import type { Engine } from './engine.ts'
import { iso, within } from './model/env.ts'
import { hasCode } from './model/errors.ts'
import { failureOf } from './model/failure.ts'
import type { OldestDue } from './store/runs.ts'

/** A caller that asks for the health does not wait longer. */
const ANSWER_MS_MAX = 2000

export interface Health {
  /** The worker's loop goes round, and it has a slot that can be freed; also when no worker was started. If false, restart the process. */
  isAlive: boolean
  /** The store answers, its tables are there, and the worker was started. */
  isReady: boolean
  store: StoreHealth
  worker: WorkerHealth
  /** The run of the jobs defined here that is due and not taken for longest; its concurrency key may be held. */
  oldestDue: { runId: string; jobName: string; dueAt: string; lagMs: number } | null
}

export interface StoreHealth {
  isReachable: boolean
  /** Null while it is not known. */
  isMigrated: boolean | null
  /** Null when it did not answer. */
  answeredInMs: number | null
  error: string | null
}

export interface WorkerHealth {
  isStarted: boolean
  /** False while another tab leads, and this one waits. */
  isLeading: boolean
  slots: number
  busySlots: number
  /** Those whose function was asked to stop longer than a lease ago, and goes on. */
  stuckSlots: number
  /** How long its loop has not gone round; null without a worker. */
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
