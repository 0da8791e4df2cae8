// LocalClusterClient — a ClusterClient of the instance itself.
import type { ElectedProcess } from '../../cluster/leader.ts'
import type { Schedule } from '../../model/schedule.ts'
import type { IfVersion } from '../../store/runs.ts'
import type { ClientAudit, ClientSchedules, ClientSettings, ClientWorkers, ClusterClient, ScheduleRequest } from './cluster-client.ts'

/** The part of `Durably` that a local client needs. */
export interface LocalCluster {
  /** Creates a schedule, or defines it anew, like `Durably.schedule`. */
  schedule(id: string, options: ScheduleRequest & { payload: unknown }, condition?: IfVersion): Promise<Schedule>
  /** The schedules of the database. */
  readonly schedules: Omit<ClientSchedules, 'put'>
  /** The workers in the register of the database. */
  readonly workers: ClientWorkers
  /** The settings that all processes share. */
  readonly settings: ClientSettings
  /** Who did what. */
  readonly audit: ClientAudit
  /** Reads which process is elected, or was last. */
  leader(): Promise<ElectedProcess | null>
}

/**
 * The interface of a client for operators, directly on an instance.
 *
 * @example const client = localClusterClient(durably)
 */
export function localClusterClient(durably: LocalCluster): ClusterClient {
  const { schedules, workers, settings, audit } = durably
  return {
    schedules: {
      put: (id, { payload, ...schedule }, condition) => durably.schedule(id, { ...schedule, payload }, condition),
      list: (options) => schedules.list(options),
      get: (id) => schedules.get(id),
      next: (id, count) => schedules.next(id, count),
      pause: (id, condition) => schedules.pause(id, condition),
      resume: (id, condition) => schedules.resume(id, condition),
      trigger: (id, condition) => schedules.trigger(id, condition),
      delete: (id, condition) => schedules.delete(id, condition),
    },
    workers: {
      list: () => workers.list(),
      attach: (workerId) => workers.attach(workerId),
      drain: (workerId) => workers.drain(workerId),
      detach: (workerId) => workers.detach(workerId),
    },
    settings: {
      get: () => settings.get(),
      set: (change, condition) => settings.set(change, condition),
    },
    audit: { list: (filter) => audit.list(filter) },
    leader: () => durably.leader(),
  }
}
