// @coji/durably/cluster — many workers on one database: a register that says who is there, and a leader that chooses the worker of each run.

import { type ClusterState, clusterState } from './cluster/cluster-state.ts'
import { type ClusterOptions, readClusterOptions } from './cluster/fleet-options.ts'
import { RegisteredWorkers, type Worker } from './cluster/registered-workers.ts'
import type { Durably } from './durably.ts'
import { ENGINE } from './engine.ts'
import { DurablyError } from './model/errors.ts'
import type { WorkerState } from './store/cluster/workers.ts'

export type { ClusterOptions, ClusterState, Worker, WorkerState }
export { clusterState }

/** The workers of a database, and what an operator does with them. */
export type Cluster = Pick<RegisteredWorkers, 'workers' | 'attach' | 'drain' | 'detach'>

/**
 * Makes an instance one of the workers in the register of its database. Call it before `start()`. The instance needs a `workerId` of its own, or
 * none: then it makes one.
 *
 * @example const fleet = cluster(durably, { dispatch: 'leader', labels: { gpu: 'yes' } })
 */
export function cluster(durably: Durably, options: ClusterOptions = {}): Cluster {
  const engine = durably[ENGINE]
  const { store, changes, duties, worker } = engine
  if (!store.cluster) throw new DurablyError('schedules_unsupported', 'the store of this instance has no chapter `cluster`')
  if (worker.isWorking || worker.isStarting)
    throw new DurablyError('invalid_argument', 'cluster() must be called before start(): the worker has begun to claim runs')
  duties.join(readClusterOptions(options))
  return new RegisteredWorkers(store.cluster, (change) => changes.publish(change))
}
