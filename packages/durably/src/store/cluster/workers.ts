// The register of workers: who is there, what each can do, and whether it is wanted.
//   G1. A name belongs to one process at a time: another one gets it when the first is detached or silent for longer than its entry lasts.
//   G2. Only people change the state of a worker that is there. It learns its state with each renewal.

import type { Audited } from './audit.ts'

export const WORKER_STATES = ['attached', 'draining', 'detached'] as const
/** `attached`: it gets runs. `draining`: it gets no more, and executes those that it has. `detached`: it gets none and starts none. */
export type WorkerState = (typeof WORKER_STATES)[number]

/** The register of workers. */
export interface WorkerStore {
  /** Enters a worker or renews its entry, and says which state it has. Null if another process is there under the same name. */
  attend(worker: WorkerEntry): Promise<WorkerState | null>
  /** Removes the entry of a process that ends, so that nobody waits for it. It does nothing if another process has the name. */
  leave(worker: Pick<WorkerEntry, 'id' | 'token'>): Promise<void>
  /** Changes the state of a worker; false if there is none of this name. It is recorded if the worker had another state. */
  switchWorker(id: string, state: WorkerState, options?: Audited): Promise<boolean>
  /** All workers of the register, by name. */
  workers(): Promise<WorkerRow[]>
}

/** What a worker says of itself. */
export interface WorkerEntry {
  /** Its name. */
  id: string
  /** By which the process is known, unique for ever. */
  token: string
  /** Its labels, as JSON. */
  labels: string
  /** How many runs it executes at once. */
  capacity: number
  /** The names of the jobs that it executes, as JSON. */
  jobNames: string
  /** The version of its code, for people; null if it has none. */
  version: string | null
  /** How long the entry lasts without a renewal, in milliseconds. */
  lastsMs: number
}

/** A worker of the register. */
export interface WorkerRow extends Omit<WorkerEntry, 'token' | 'lastsMs'> {
  /** Whether it is wanted. */
  state: WorkerState
  /** When its process entered, in milliseconds since 1970. */
  attachedAt: number
  /** When it last renewed its entry, in milliseconds since 1970. */
  heartbeatAt: number
  /** When its entry ends, in milliseconds from now; 0 or less if it is silent. */
  expiresInMs: number
  /** How many runs are assigned to it and have not started. */
  assigned: number
  /** How many runs it executes. */
  running: number
}
