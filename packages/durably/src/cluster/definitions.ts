// Definitions — what callers do with what workers say of their jobs.
import { iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { checkName } from '../model/name.ts'
import { type PageOptions, readPage } from '../model/page-options.ts'
import type { EventSubscription } from '../model/subscription.ts'
import type { DefinitionRow, DefinitionStore } from '../store/cluster/definitions.ts'
import { allDefinitions } from './all-definitions.ts'

/** What the workers of a job say of it. */
export interface KnownJob {
  /** The name of the job. */
  name: string
  /** The JSON Schema (draft 2020-12) of its input; null if its schema library cannot produce one. */
  input: Record<string, unknown> | null
  /** The events that it subscribes to. */
  on: EventSubscription[]
  /** Grows with every change. */
  version: number
  /** When it was last changed, as ISO-8601 text. */
  updatedAt: string
}

/** What workers said of their jobs, as `durably.definitions`. */
export class Definitions {
  readonly #store: DefinitionStore | undefined

  /** Without `cluster`, the store keeps none. */
  constructor({ cluster }: { cluster: DefinitionStore | undefined }) {
    this.#store = cluster
  }

  /** Reads the jobs that workers have spoken of, by name, or a page of them; `cursor` is the last name of the page before. */
  async list(options?: PageOptions): Promise<KnownJob[]> {
    const page = readPage('definitions.list', options)
    if (page.after !== undefined) checkName('cursor', page.after)
    return (await allDefinitions(this.#cluster, {}, page)).map(toKnownJob)
  }

  /** Reads one. Null if no worker has spoken of a job of this name. */
  async get(name: string): Promise<KnownJob | null> {
    const [row] = await this.#cluster.findDefinitions({ names: [checkName('name', name)], limit: 1 })
    return row ? toKnownJob(row) : null
  }

  /** Forgets a job that no program defines any more: it gets no further events. A worker that defines it says it anew when it starts. */
  async delete(name: string): Promise<void> {
    if (!(await this.#cluster.deleteDefinition(checkName('name', name))))
      throw new DurablyError('job_not_found', `no worker has spoken of a job ${JSON.stringify(name)}`)
  }

  get #cluster(): DefinitionStore {
    if (this.#store) return this.#store
    throw new DurablyError('inbox_unsupported', 'the store of this instance keeps no definitions; use memoryStore(), SQLite or Postgres')
  }
}

function toKnownJob({ name, input, subscriptions, version, updatedAt }: DefinitionRow): KnownJob {
  return {
    name,
    input: input === null ? null : (JSON.parse(input) as Record<string, unknown>),
    on: JSON.parse(subscriptions ?? '[]') as EventSubscription[],
    version,
    updatedAt: iso(updatedAt),
  }
}
