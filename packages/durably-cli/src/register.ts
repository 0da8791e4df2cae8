import type { Durably } from '@coji/durably'
import { cluster, type Worker } from '@coji/durably/cluster'

/** The workers of the register that start runs. A worker whose process does not call cluster() is in none. */
export async function workersAtWork(durably: Durably): Promise<Worker[]> {
  return (await cluster(durably).workers()).filter(({ isSilent, state }) => !isSilent && state === 'attached')
}

export function workersWith(workers: readonly Worker[], jobName: string): Worker[] {
  return workers.filter(({ jobNames }) => jobNames.includes(jobName))
}

/** For what goes on by itself, if a worker is there then. Workers that call no cluster() are at work too, and this must not deny them. */
export const NONE_IN_REGISTER =
  'That takes a worker, and none is in the register, which has only those of durably worker and of processes that call cluster().'
