// Durably — the public face of an engine: what it can do, in one place. Every method hands on to the part that does it.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Kysely } from 'kysely'
import type { Capabilities } from './capabilities.ts'
import type { DurablyOptions } from './config.ts'
import { createEngine, ENGINE, type Engine } from './engine.ts'
import type { Listener, ListenerErrorHandler, Unsubscribe } from './events/emitter.ts'
import type { Health } from './health.ts'
import { capabilities, close, explain, health, processOne, processUntilIdle, type StartOptions, start, stop } from './lifecycle.ts'
import type { Decision } from './model/effect.ts'
import { DurablyError } from './model/errors.ts'
import type { EventType } from './model/event.ts'
import type { Job, JobContextOf, JobDefinition } from './model/job.ts'
import type { Log } from './model/log.ts'
import type { Phase } from './model/phase.ts'
import type { Run } from './model/run.ts'
import type { RunConditions, RunFilter } from './model/run-filter.ts'
import type { SentSignal, Signals } from './model/signal.ts'
import type { Step } from './model/step.ts'
import type { ReturnsStorable } from './model/storable.ts'
import type { Plugin } from './plugin.ts'
import { defineJob } from './runs/define-job.ts'
import type { Explanation } from './runs/explain/explanation.ts'
import type { JobHandle } from './runs/job-handle.ts'
import { lazyManyRuns } from './runs/lazy-many-runs.ts'
import type { ManyRunsOptions, ManyRunsOutcome } from './runs/many-runs.ts'
import type { PurgeOptions, SignalOptions } from './runs/run-commands.ts'
import { type SubscribeOptions, type Subscription, subscribe } from './runs/subscribe.ts'
import { type RunsSubscription, type WatchFilter, type WatchOptions, watchRuns } from './runs/watch-runs.ts'
import type { CancelOutcome, IfVersion } from './store/runs.ts'
import type { DurablyTables } from './store/sql/shared/schema.ts'
import type { UntilIdleOptions } from './worker/loop/process-until-idle.ts'

/**
 * Makes an instance: the jobs you define on it, its worker, its view of the database.
 *
 * @example const durably = createDurably({ dialect: sqlite('app.db') })
 */
export function createDurably(options: DurablyOptions): Durably {
  return new Durably(options)
}

export class Durably implements AsyncDisposable {
  readonly [ENGINE]: Engine

  constructor(options: DurablyOptions) {
    this[ENGINE] = createEngine(options ?? {})
  }

  /**
   * Registers a job; from now on this instance's worker claims its runs.
   *
   * @example const greet = durably.defineJob({ name: 'greet', input: z.object({ name: z.string() }) }, async (ctx, { name }) => …)
   */
  defineJob<
    TName extends string,
    TInput extends StandardSchemaV1,
    TOutput extends StandardSchemaV1 | undefined = undefined,
    TReturn = unknown,
    TSignals extends Signals = Signals,
  >(
    definition: JobDefinition<TName, TInput, TOutput, TSignals>,
    run: ReturnsStorable<JobOutput<TOutput, TReturn>> &
      ((
        ctx: JobContextOf<TSignals>,
        payload: StandardSchemaV1.InferOutput<TInput>,
      ) => JobResult<TOutput, TReturn> | Promise<JobResult<TOutput, TReturn>>),
  ): JobHandle<TName, StandardSchemaV1.InferInput<TInput>, JobOutput<TOutput, TReturn>, TSignals> {
    return defineJob(this[ENGINE], { ...definition, run } as unknown as Job & { name: TName })
  }

  /** The jobs that are defined on this instance, by name. */
  get jobs(): ReadonlyMap<string, JobHandle<string, unknown, unknown>> {
    return this[ENGINE].handles
  }

  /** Creates or updates the tables; idempotent, safe when several processes call it at once. */
  async migrate(): Promise<void> {
    this[ENGINE].admit()
    return this[ENGINE].store.migrate()
  }

  /**
   * Starts the worker.
   *
   * @example durably.start({ handleSignals: true })
   */
  start(options?: StartOptions): void {
    start(this[ENGINE], options)
  }

  /**
   * Waits for the active runs, except inside one of them. With `timeout` (ms) they are then asked to stop and given back, and it
   * resolves soon after. The database stays open.
   */
  stop(options?: { timeout?: number }): Promise<void> {
    return stop(this[ENGINE], options)
  }

  /** Claims and executes one run, without `start()`; false when there is none. */
  processOne(): Promise<boolean> {
    return processOne(this[ENGINE])
  }

  /** Executes what is due, without `start()`, and returns how many runs that were; for serverless functions and tests. */
  processUntilIdle(options?: UntilIdleOptions): Promise<number> {
    return processUntilIdle(this[ENGINE], options)
  }

  getRun(id: string): Promise<Run | null> {
    return this[ENGINE].reader.getRun(id)
  }

  getRuns(filter?: RunFilter): Promise<Run[]> {
    return this[ENGINE].reader.getRuns(filter)
  }

  /**
   * Why a run does not go on: the cause, since when, who can act and what to do, by way of the runs that it waits for.
   *
   * @example console.log((await durably.explain(run.id)).text)
   */
  explain(runId: string): Promise<Explanation> {
    return explain(this[ENGINE], runId)
  }

  getSteps(runId: string): Promise<Step[]> {
    return this[ENGINE].reader.getSteps(runId)
  }

  /**
   * The signals that were sent to a run, and whether the run has received them: one that it never waits for stays unreceived.
   *
   * @example const lost = (await durably.getSignals(run.id)).filter((signal) => !signal.received)
   */
  getSignals(runId: string): Promise<SentSignal[]> {
    return this[ENGINE].reader.getSignals(runId)
  }

  getLogs(runId: string): Promise<Log[]> {
    return this[ENGINE].reader.getLogs(runId)
  }

  /**
   * The events of a run, wherever it runs: those of the log, then live, until the run has ended. Nothing is skipped; after a
   * break go on with `after`, the `sequence` of the last event that was seen.
   *
   * @example for await (const event of durably.subscribe(run.id)) console.log(event.type)
   */
  subscribe(runId: string, options?: SubscribeOptions): Subscription {
    return subscribe(this[ENGINE].follow, runId, options)
  }

  /**
   * The newest runs that match, now and whenever one of them changed; until it is left or its signal aborts.
   *
   * @example for await (const runs of durably.watchRuns({ status: 'running' })) console.log(runs.length)
   */
  watchRuns(filter?: WatchFilter, options?: WatchOptions): RunsSubscription {
    return watchRuns(this[ENGINE].runLists, filter, options)
  }

  retry(id: string, options?: IfVersion): Promise<Run> {
    return this[ENGINE].commands.retry(id, options)
  }

  cancel(id: string, options?: IfVersion): Promise<CancelOutcome['outcome']> {
    return this[ENGINE].commands.cancel(id, options)
  }

  /**
   * Sends a value to a run that waits for it with `ctx.waitFor(name)`, or will. The first under a name wins.
   *
   * @example await durably.signal(run.id, 'approval', { ok: true })
   */
  signal(runId: string, name: string, value: unknown, options?: SignalOptions): Promise<void> {
    return this[ENGINE].commands.signal(runId, name, value, options)
  }

  /**
   * Says what became of an effect (`effect: 'once'`) whose worker was lost, so that its run can go on.
   *
   * @example await durably.decide(run.id, 'charge', { done: { chargeId } })
   */
  decide(runId: string, stepName: string, decision: Decision): Promise<void> {
    return this[ENGINE].commands.decide(runId, stepName, decision)
  }

  /** How many runs are in each phase. Counts them all: for a dashboard, not for a hot path. */
  countsByPhase(): Promise<Record<Phase, number>> {
    return this[ENGINE].reader.countsByPhase()
  }

  /**
   * Removes runs that ended long ago, with their steps, logs, events and signals; returns how many.
   *
   * @example await durably.purge({ olderThan: '30d', status: 'completed' })
   */
  purge(options: PurgeOptions): Promise<number> {
    return this[ENGINE].commands.purge(options)
  }

  /**
   * Cancels every pending and running run that matches, the oldest first; those that are triggered meanwhile are left alone. After a crash
   * the same call goes on with the rest.
   *
   * @example await durably.cancelRuns({ jobName: 'import', createdBefore: '2026-01-01T00:00:00Z' })
   */
  cancelRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome> {
    return lazyManyRuns(this[ENGINE], 'cancelRuns', filter, options)
  }

  /** Retries every failed run that matches; one that cannot be retried is passed over. */
  retryRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome> {
    return lazyManyRuns(this[ENGINE], 'retryRuns', filter, options)
  }

  /** Deletes every run that matches and has ended, with all that belongs to it; one that is still needed is passed over. */
  deleteRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome> {
    return lazyManyRuns(this[ENGINE], 'deleteRuns', filter, options)
  }

  deleteRun(id: string, options?: IfVersion): Promise<void> {
    return this[ENGINE].commands.deleteRun(id, options)
  }

  on<T extends EventType>(type: T, listener: Listener<T>): Unsubscribe {
    return this[ENGINE].emitter.on(type, listener)
  }

  /** Called with the error of a listener that threw or rejected. */
  onError(handler: ListenerErrorHandler): Unsubscribe {
    return this[ENGINE].emitter.onError(handler)
  }

  use(plugin: Plugin): this {
    plugin.install(this[ENGINE].plugins)
    return this
  }

  /** Whether the store answers, whether the worker is alive, and how long the oldest due run has waited. */
  health(): Promise<Health> {
    return health(this[ENGINE])
  }

  /** What this runtime, this database and this instance can do. */
  capabilities(): Promise<Capabilities> {
    return capabilities(this[ENGINE])
  }

  /** The Kysely instance, for queries of your own. */
  get db(): Kysely<DurablyTables> {
    const { db } = this[ENGINE]
    if (!db) throw new DurablyError('invalid_config', 'this instance was given a store, not a dialect: it has no Kysely instance')
    return db
  }

  /** Waits for the active runs and closes the database; a store that was handed in stays open. */
  [Symbol.asyncDispose](): Promise<void> {
    return close(this[ENGINE])
  }
}

type JobOutput<TOutput extends StandardSchemaV1 | undefined, TReturn> = TOutput extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<TOutput>
  : TReturn
type JobResult<TOutput extends StandardSchemaV1 | undefined, TReturn> = TOutput extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<TOutput>
  : TReturn
