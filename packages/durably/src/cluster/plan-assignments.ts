import type { Assignment, UnassignedRun } from '../store/cluster/assignments.ts'
import type { WorkerRow } from '../store/cluster/workers.ts'

/** So many times its capacity a worker may have: it need not wait for the leader when a run has ended. */
const AHEAD = 2

/** How many more runs a worker may get. */
export function roomOf({ state, expiresInMs, capacity, assigned, running }: WorkerRow): number {
  return state === 'attached' && expiresInMs > 0 ? Math.max(0, AHEAD * capacity - assigned - running) : 0
}

/**
 * Gives each run to the worker that it prefers, if that one could start it at once, or else to the one that has its job and the most room, in the order of the runs. One that no worker
 * can take is left out.
 */
export function planAssignments(runs: readonly UnassignedRun[], workers: readonly WorkerRow[]): Assignment[] {
  const candidates = workers.map((worker) => ({ worker, jobs: new Set(JSON.parse(worker.jobNames) as string[]), room: roomOf(worker) }))
  return runs.flatMap(({ id, jobName, version, preferWorkerId }) => {
    const able = candidates.filter(({ jobs, room }) => room > 0 && jobs.has(jobName))
    const [most] = able.sort((a, b) => b.room / b.worker.capacity - a.room / a.worker.capacity)
    const chosen = able.find(({ worker, room }) => worker.id === preferWorkerId && room > AHEAD * worker.capacity - worker.capacity) ?? most
    if (!chosen) return []
    chosen.room -= 1
    return { runId: id, version, workerId: chosen.worker.id }
  })
}
