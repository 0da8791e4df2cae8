// Tidying — what a worker does about runs that ended long ago: their histories are archived, and they are removed.
import type { Env } from '../model/env.ts'
import type { RetentionRule } from '../model/retention.ts'
import type { TransactionalStore } from '../store/lazy-store.ts'
import type { Store } from '../store/store.ts'
import type { ArchiveFiles } from './archive-files.ts'
import type { ArchiveRule } from './archive-option.ts'
import { ArchivedReads } from './archived-reads.ts'
import { Archiver } from './archiver.ts'
import { Archiving } from './archiving.ts'
import { Retention } from './retention.ts'

export interface TidyingDeps {
  store: Store
  env: Env
  retention: readonly RetentionRule[]
  archive: ArchiveRule | null
  report: (error: unknown, runId?: string) => void
}

export class Tidying {
  readonly #archiving: Archiving | null
  readonly #retention: Retention

  constructor({ store, env, retention, archive: rule, report }: TidyingDeps) {
    const { archive } = store
    this.#archiving = rule && archive ? new Archiving(env, new Archiver({ ...rule, env, report, store: { ...store, archive } })) : null
    this.#retention = new Retention({ runs: store.runs, env, rules: retention })
  }

  /** Does what is due; archiving goes on in the background, page after page while `isStarted`. Returns in how many ms to call it again. */
  async look(isStarted: () => boolean): Promise<number> {
    const archivesIn = this.#archiving?.look(isStarted) ?? Number.POSITIVE_INFINITY
    return Math.min(archivesIn, await this.#retention.purge())
  }

  /** Resolves when what was begun is done. */
  async settled(): Promise<void> {
    await this.#archiving?.settled()
  }

  /** Lets the file that is being written be finished, and begins no other. */
  async stop(): Promise<void> {
    await this.#archiving?.stop()
  }
}

export function archivedStore(store: Store, env: Env, files: ArchiveFiles): TransactionalStore {
  const { events, logs } = new ArchivedReads(store, env, files)
  return { ...(store as TransactionalStore), events, logs }
}
