// RegisteredWorkers — the workers of a database, for people who operate them.
import { type Env, iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import type { Labels } from '../model/labels.ts'
import { checkName } from '../model/name.ts'
import { type ActorOption, audited } from '../store/cluster/audited.ts'
import type { WorkerRow, WorkerState, WorkerStore } from '../store/cluster/workers.ts'
import type { Change } from '../store/notifier.ts'

export interface RegisteredWorkersDeps {
  /** Absent if the store has none. */
  cluster: WorkerStore | undefined
  publish: (change: Change) => void
  env: Env
}

const OPTIONS: KeysOf<ActorOption> = { actor: 1 }

/** A worker of the register. Times are ISO-8601 text, on the clock of the database. */
export interface Worker {
  /** Its name: the option `workerId` of its instance. */
  id: string
  /** `attached`: it gets runs. `draining`: it gets no more, and executes those that it has. `detached`: it gets none and starts none. */
  state: WorkerState
  /** True if it has not renewed its entry for 15 seconds: its process is gone or cut off. */
  isSilent: boolean
  /** What it is. */
  labels: Labels
  /** The names of the jobs that it executes. */
  jobNames: string[]
  /** The version of its code; null if it gave none. */
  version: string | null
  /** How many runs it executes at once. */
  capacity: number
  /** How many runs it executes now. */
  running: number
  /** How many runs a leader has chosen it for that it has not started. */
  assigned: number
  /** When its process entered the register. */
  attachedAt: string
  /** When it last renewed its entry. */
  heartbeatAt: string
}

/** The workers in the register of the database, as `durably.workers`; see `cluster()`. */
export class RegisteredWorkers {
  readonly #deps: RegisteredWorkersDeps

  constructor(deps: RegisteredWorkersDeps) {
    this.#deps = deps
  }

  /** Reads all workers, by name. */
  async list(): Promise<Worker[]> {
    return (await this.#cluster.workers()).map(toWorker)
  }

  /** Lets a worker have runs again. It learns that within five seconds. */
  attach(workerId: string, options?: ActorOption): Promise<void> {
    return this.#switch('attach', workerId, 'attached', options)
  }

  /** Gives a worker no more runs; it executes those that it has. Use it before you stop a machine. */
  drain(workerId: string, options?: ActorOption): Promise<void> {
    return this.#switch('drain', workerId, 'draining', options)
  }

  /** Lets a worker start nothing more. Runs that were chosen for it get another worker after `reassignAfter`; those that it executes go on. */
  detach(workerId: string, options?: ActorOption): Promise<void> {
    return this.#switch('detach', workerId, 'detached', options)
  }

  async #switch(verb: 'attach' | 'drain' | 'detach', workerId: string, state: WorkerState, options: ActorOption = {}): Promise<void> {
    checkKeys(verb, options, OPTIONS)
    const entry = audited(this.#deps.env, options, `worker:${verb}`, checkName('workerId', workerId))
    if (!(await this.#cluster.switchWorker(workerId, state, entry)))
      throw new DurablyError(
        'worker_not_found',
        `there is no worker ${JSON.stringify(workerId)} in the register; list those that are there`,
      )
    this.#deps.publish({ type: 'work' })
  }

  get #cluster(): WorkerStore {
    if (this.#deps.cluster) return this.#deps.cluster
    throw new DurablyError(
      'schedules_unsupported',
      'the store of this instance has no register of workers; use memoryStore(), SQLite or Postgres',
    )
  }
}

function toWorker({ labels, jobNames, attachedAt, heartbeatAt, expiresInMs, ...worker }: WorkerRow): Worker {
  return {
    ...worker,
    isSilent: expiresInMs <= 0,
    labels: JSON.parse(labels) as Labels,
    jobNames: JSON.parse(jobNames) as string[],
    attachedAt: iso(attachedAt),
    heartbeatAt: iso(heartbeatAt),
  }
}
