// RunReader — reads runs, their steps and their logs.
import type { Codec } from '../model/codec.ts'
import type { Env } from '../model/env.ts'
import type { Log } from '../model/log.ts'
import type { PageOptions } from '../model/page-options.ts'
import type { Phase } from '../model/phase.ts'
import { type Run, type RunRow, toRun } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import type { SentSignal } from '../model/signal.ts'
import type { Step } from '../model/step.ts'
import type { Store } from '../store/store.ts'
import { checkFilterKeys } from './filter-keys.ts'
import { lazyRunQuery } from './lazy-run-query.ts'
import { lazyRunRows } from './lazy-run-rows.ts'

interface RunReaderDeps {
  store: Store
  env: Env
  codec: Codec
  /** Whether this process executes runs of this job now. */
  hasWorker: (jobName: string) => boolean
}

export class RunReader {
  readonly #deps: RunReaderDeps

  constructor(deps: RunReaderDeps) {
    this.#deps = deps
  }

  async getRun<TOutput>(id: string): Promise<Run<TOutput> | null> {
    const { store, env, codec } = this.#deps
    const row = await store.runs.get(id)
    return row && this.inFull(toRun<TOutput>(row, codec, env.wall()))
  }

  /** With what its own row does not say of what it waits for: which child, who holds its key, whether there is a worker. */
  async inFull<T extends Run>(run: T): Promise<T> {
    if (!run.waitingFor) return run
    const { withWait } = await lazyRunRows(this.#deps.env)
    return withWait(this.#deps, run)
  }

  /** Newest first, also a page that was read backwards. */
  async getRuns<TOutput>(filter?: RunFilter): Promise<Run<TOutput>[]> {
    const { env, codec } = this.#deps
    const rows = await this.getRows(filter)
    return rows.map((row) => toRun<TOutput>(row, codec, env.wall()))
  }

  async getRows(filter: RunFilter = {}): Promise<RunRow[]> {
    checkFilterKeys('getRuns', filter)
    const { store, env } = this.#deps
    const { runQuery } = await lazyRunQuery(env)
    const query = runQuery(filter)
    const rows = await store.runs.list(query)
    return query.oldestFirst ? rows.reverse() : rows
  }

  /** How many runs are in each phase. */
  async countsByPhase(): Promise<Record<Phase, number>> {
    const { countsByPhase } = await lazyRunQuery(this.#deps.env)
    return countsByPhase(this.#deps.store.runs)
  }

  /** By index; failed attempts included. */
  async getSteps(runId: string, options?: PageOptions): Promise<Step[]> {
    const { getSteps } = await lazyRunRows(this.#deps.env)
    return getSteps(this.#deps, runId, options)
  }

  async getSignals(runId: string): Promise<SentSignal[]> {
    const { getSignals } = await lazyRunRows(this.#deps.env)
    return getSignals(this.#deps, runId)
  }

  /** In the order they happened; empty without `withLogPersistence()`. */
  async getLogs(runId: string, options?: PageOptions): Promise<Log[]> {
    const { getLogs } = await lazyRunRows(this.#deps.env)
    return getLogs(this.#deps, runId, options)
  }
}
