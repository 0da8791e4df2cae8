// Takes one run for this process. Only what this returns may start user code (R5).
import { backoffMs } from '../model/backoff.ts'
import { sleep } from '../model/env.ts'
import { isPassing } from '../model/errors.ts'
import type { RunRow } from '../model/run.ts'
import type { StepRow } from '../model/step.ts'
import type { WorkerKit } from './kit.ts'
import { LeaseAge } from './lease-age.ts'

export interface Claimed {
  run: RunRow
  lease: LeaseAge
}

export async function claimRun(kit: WorkerKit): Promise<Claimed | null> {
  const { store, env, jobs, leaseMs } = kit
  const token = env.id()
  const lease = new LeaseAge(env)
  const claimed = (run: RunRow | null) => run && { run, lease }
  try {
    return claimed(await store.runs.claim({ jobNames: [...jobs.keys()], token, leaseMs }))
  } catch (error) {
    const adopted = await untilLeaseIsOver(kit, () => store.runs.adopt(token))
    if (adopted) return claimed(adopted)
    throw error
  }
}

/** The steps to skip; `null` when they could not be read while the lease lasted. */
export async function readCompletedSteps(kit: WorkerKit, run: RunRow): Promise<readonly StepRow[] | null> {
  if (run.currentStepIndex === 0) return []
  return untilLeaseIsOver(kit, () => kit.store.steps.completed(run.id))
}

async function untilLeaseIsOver<T>({ env, leaseMs, report }: WorkerKit, call: () => Promise<T>): Promise<T | null> {
  const began = env.mono()
  for (let attempt = 1; env.mono() - began < leaseMs; attempt++) {
    try {
      return await call()
    } catch (error) {
      if (!isPassing(error)) throw error
      report(error)
      await sleep(env, backoffMs(env, attempt))
    }
  }
  return null
}
