// Inbox — what callers do with events: they send them. The leader delivers them (`deliver-due.ts`).
import { publishingCluster } from '../events/publishing-cluster.ts'
import type { Codec } from '../model/codec.ts'
import type { Env } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { Job } from '../model/job.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { checkName } from '../model/name.ts'
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { Change } from '../store/notifier.ts'
import type { Store } from '../store/store.ts'
import { throwIfRejected } from './publish-jobs.ts'

/** The options of `durably.send`. */
export interface SendOptions {
  /**
   * A second event with the same key, whatever its name and data, is not stored. The key is kept until 7 days after its event was
   * delivered, or as `durably.settings` says. At most 512 bytes.
   */
  dedupeKey?: string
  /** A Kysely transaction on the same database: the event exists if and when it commits. */
  tx?: unknown
}

/** What `durably.send` returns. */
export interface SentEvent {
  /** The id of the event; of the one that has the key, if this one was not stored. */
  id: string
  /** False if an event with the same `dedupeKey` was sent before, so that this one was not stored. */
  isNew: boolean
}

export interface InboxDeps {
  /** Absent if the store has none. It rejects inside `ctx.transaction`. */
  cluster: ClusterStore | undefined
  /** Where what is sent with the `tx` of a transaction goes. */
  store: Store
  publish: (change: Change) => void
  env: Env
  codec: Codec
  jobs: ReadonlyMap<string, Job>
  /** Has the jobs of this process stored; undefined if there is nothing to do. */
  publishJobs: () => Promise<void> | undefined
}

const SEND_OPTIONS: KeysOf<SendOptions> = { dedupeKey: 1, tx: 1 }

export class Inbox {
  readonly #deps: InboxDeps

  constructor(deps: InboxDeps) {
    this.#deps = deps
  }

  async send(name: string, data: unknown, options: SendOptions = {}): Promise<SentEvent> {
    checkKeys('send', options, SEND_OPTIONS)
    const { env, codec, cluster, store } = this.#deps
    const { dedupeKey, tx: within } = options
    const event = {
      id: env.id(),
      name: checkName('event', name),
      data: codec.encode(data, `data of event ${JSON.stringify(name)}`),
      dedupeKey: dedupeKey === undefined ? null : checkName('dedupeKey', dedupeKey),
    }
    // So that the jobs of a program get what it sends.
    if (within === undefined) {
      await this.#deps.publishJobs()
      throwIfRejected(this.#deps.jobs)
    }
    const { id, outcome } = await this.#over(within === undefined ? cluster : store.cluster).putEvent(event, { within })
    return { id, isNew: outcome === 'stored' }
  }

  #over(cluster: ClusterStore | undefined): ClusterStore {
    if (cluster) return publishingCluster(cluster, this.#deps.publish)
    throw new DurablyError('inbox_unsupported', 'the store of this instance has no inbox; use memoryStore(), SQLite or Postgres')
  }
}
