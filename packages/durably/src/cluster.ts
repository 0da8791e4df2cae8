// @coji/durably/cluster — many workers on one database: a register that says who is there, and a leader that chooses the worker of each run.

import { type ClusterOptions, readClusterOptions } from './cluster/fleet-options.ts'
import type { RegisteredWorkers, Worker } from './cluster/registered-workers.ts'
import type { Durably } from './durably.ts'
import { engineOf } from './engine-of.ts'
import { type ClusterState, clusterState } from './model/cluster-state.ts'
import { DurablyError } from './model/errors.ts'
import type { WorkerState } from './store/cluster/workers.ts'

export type { ClusterOptions, ClusterState, Worker, WorkerState }
export { clusterState }

/** The workers of a database, and what an operator does with them. */
export interface Cluster extends Pick<RegisteredWorkers, 'attach' | 'drain' | 'detach'> {
  /** Reads all workers, by name. */
  workers(): Promise<Worker[]>
}

/**
 * Makes an instance one of the workers in the register of its database. Call it before `start()`. The instance needs a `workerId` of its own, or
 * none: then it makes one.
 *
 * @example const fleet = cluster(durably, { dispatch: 'leader', labels: { gpu: 'yes' } })
 */
export function cluster(durably: Durably, options: ClusterOptions = {}): Cluster {
  const engine = engineOf(durably, 'cluster')
  const { store, duties, worker } = engine
  const { workers } = engine.cluster
  if (!store.cluster) throw new DurablyError('schedules_unsupported', 'the store of this instance has no chapter `cluster`')
  if (worker.isWorking || worker.isStarting)
    throw new DurablyError('invalid_argument', 'cluster() must be called before start(): the worker has begun to claim runs')
  duties.join(readClusterOptions(options))
  return {
    workers: () => workers.list(),
    attach: (...args) => workers.attach(...args),
    drain: (...args) => workers.drain(...args),
    detach: (...args) => workers.detach(...args),
  }
}
