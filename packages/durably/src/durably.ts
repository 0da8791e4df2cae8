// Durably — the public methods of an engine, in one place. Each of them calls the part that does the work.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Kysely } from 'kysely'
import type { Capabilities } from './capabilities.ts'
import type { Audit } from './cluster/audit.ts'
import type { Definitions } from './cluster/definitions.ts'
import type { SendOptions, SentEvent } from './cluster/inbox.ts'
import type { ElectedProcess } from './cluster/leader.ts'
import type { RegisteredWorkers } from './cluster/registered-workers.ts'
import type { SchedulableJob, ScheduleOptions } from './cluster/schedule-options.ts'
import type { Schedules } from './cluster/schedules.ts'
import type { Settings } from './cluster/settings.ts'
import type { UnknownJob } from './cluster/unknown-jobs.ts'
import type { DurablyOptions } from './config.ts'
import { createEngine, ENGINE, type Engine } from './engine.ts'
import type { Listener, ListenerErrorHandler, Unsubscribe } from './events/emitter.ts'
import type { Health } from './health.ts'
import { capabilities, close, explain, health, processing, type StartOptions, start, stop } from './lifecycle.ts'
import type { Decision } from './model/effect.ts'
import { DurablyError } from './model/errors.ts'
import type { EventType } from './model/event.ts'
import type { Job, JobContextOf, JobDefinition } from './model/job.ts'
import type { Log } from './model/log.ts'
import type { PageOptions } from './model/page-options.ts'
import type { Phase } from './model/phase.ts'
import type { Run } from './model/run.ts'
import type { RunConditions, RunFilter } from './model/run-filter.ts'
import type { Schedule } from './model/schedule.ts'
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
import type { TriggerOptions } from './runs/trigger.ts'
import { type RunsSubscription, type WatchFilter, type WatchOptions, watchRuns } from './runs/watch-runs.ts'
import type { ActorOption } from './store/cluster/audited.ts'
import type { CancelOutcome, CommandOptions } from './store/runs.ts'
import type { DurablyTables } from './store/sql/shared/schema.ts'
import type { UntilIdleOptions } from './worker/loop/process-until-idle.ts'

/**
 * Makes an instance, on which you define jobs and start a worker. It does not touch the database yet: call `migrate()` next.
 *
 * @example const durably = createDurably({ dialect: sqlite('app.db') })
 */
export function createDurably(options: DurablyOptions): Durably {
  return new Durably(options)
}

/**
 * An instance, made by `createDurably`: it defines jobs, executes their runs, and reads and changes runs of the same database, also those
 * of other processes.
 */
export class Durably implements AsyncDisposable {
  readonly [ENGINE]: Engine

  constructor(options: DurablyOptions) {
    this[ENGINE] = createEngine(options ?? {})
  }

  /**
   * Registers a job, and returns the handle that triggers it. From now on the worker of this instance claims its runs. Each name can be
   * defined once.
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

  /**
   * Creates or updates the tables. Call it before anything else, at every start: if there is nothing to do, it changes nothing. Several
   * processes may call it at once.
   */
  async migrate(): Promise<void> {
    this[ENGINE].refuseInTransaction()
    return this[ENGINE].store.migrate()
  }

  /**
   * Starts the worker, which executes runs of the jobs that are defined here until `stop()`. Without it, this instance only triggers and
   * reads.
   *
   * @example durably.start({ handleSignals: true })
   */
  start(options?: StartOptions): void {
    start(this[ENGINE], options)
  }

  /**
   * Stops the worker: it claims no more runs, and the promise resolves when the active ones have ended. With `timeout` (in milliseconds),
   * runs that are still active then are asked to stop (`ctx.signal` aborts) and given back to other workers. Called inside a job without
   * `timeout`, it does not wait for that job. The database stays open.
   */
  stop(options?: { timeout?: number }): Promise<void> {
    return stop(this[ENGINE], options)
  }

  /** Claims one run that is due, executes it, and returns true; returns false if none was due. It needs no `start()`. */
  async processOne(): Promise<boolean> {
    return (await processing(this[ENGINE])).processOne(this[ENGINE])
  }

  /**
   * Executes runs until none is due, and returns how many executions that were. It needs no `start()`: use it in serverless functions, cron
   * jobs and tests.
   */
  async processUntilIdle(options?: UntilIdleOptions): Promise<number> {
    return (await processing(this[ENGINE])).processUntilIdle(this[ENGINE], options)
  }

  /**
   * Lets a job run by itself: creates a schedule, or defines it anew, and returns it. Call it at every start: if nothing has changed, nothing is
   * written. Any process that was started creates the runs, each exactly once.
   *
   * @example await durably.schedule({ job: report, cron: '0 3 * * *', timezone: 'Europe/Berlin', payload: {} })
   */
  schedule<TJob extends SchedulableJob>(options: ScheduleOptions<TJob>): Promise<Schedule>
  /** The same under an id of its own, for a second schedule of the same job. Without one, the id is the name of the job. */
  schedule<TJob extends SchedulableJob>(id: string, options: ScheduleOptions<TJob>, condition?: CommandOptions): Promise<Schedule>
  schedule(
    ...args: [options: ScheduleOptions] | [id: string, options: ScheduleOptions, condition?: CommandOptions | undefined]
  ): Promise<Schedule> {
    return this[ENGINE].cluster.schedules.put(...args)
  }

  /** The schedules of the database: list them, pause and resume them, trigger them by hand, delete them. */
  get schedules(): Omit<Schedules, 'put' | 'checkedBy'> {
    return this[ENGINE].cluster.schedules
  }

  /**
   * Triggers a run of a job by its name, also of one that only other processes define. What its workers said of its input
   * (`publishJobs`) is checked at once; in any case the worker checks the input, and a run whose input is wrong fails with reason `invalid_input`.
   *
   * @example const run = await durably.trigger('report', { month: '2030-01' })
   */
  trigger(jobName: string, input: unknown, options?: TriggerOptions): Promise<Run> {
    return this[ENGINE].cluster.foreignJobs.trigger(jobName, input, options)
  }

  /** What the workers of all processes said of their jobs: list them, read one, forget one. */
  get definitions(): Definitions {
    return this[ENGINE].cluster.definitions
  }

  /**
   * Sends an event: each job that subscribes to its name (`on`) gets a run whose input is the data. It is stored at once, and any process
   * that was started creates the runs, each exactly once.
   *
   * @example await durably.send('user.created', { id: 'u1' }, { dedupeKey: delivery.id })
   */
  send(name: string, data: unknown, options?: SendOptions): Promise<SentEvent> {
    return this[ENGINE].cluster.inbox.send(name, data, options)
  }

  /** The settings that all processes share: read and change them. */
  get settings(): Settings {
    return this[ENGINE].cluster.settings
  }

  /** Who did what: the entries of commands that had an `actor`, and of elections. */
  get audit(): Audit {
    return this[ENGINE].cluster.audit
  }

  /** The workers in the register of the database: list them, and attach, drain or detach them. Processes enter it with `cluster()`. */
  get workers(): RegisteredWorkers {
    return this[ENGINE].cluster.workers
  }

  /** Reads which of all processes fires the schedules, or did last. Null if none ever did. */
  leader(): Promise<ElectedProcess | null> {
    return this[ENGINE].cluster.leaders.elected()
  }

  /** Reads one run, with its status, progress, output and what it waits for. Null if there is no such run. */
  getRun(id: string): Promise<Run | null> {
    return this[ENGINE].reader.getRun(id)
  }

  /** Reads the runs that match, newest first. Give a `limit` where there may be many: without one, all of them are returned. */
  getRuns(filter?: RunFilter): Promise<Run[]> {
    return this[ENGINE].reader.getRuns(filter)
  }

  /**
   * Says why a run does not go on: the cause, since when, who can act and what to do. If the run waits for other runs, it follows them to
   * the one that everything waits for.
   *
   * @example console.log((await durably.explain(run.id)).text)
   */
  explain(runId: string): Promise<Explanation> {
    return explain(this[ENGINE], runId)
  }

  /**
   * Reads the recorded steps of a run, in the order in which the job called them. Failed attempts are included. Give a `limit` where there
   * may be many.
   *
   * @example const next = await durably.getSteps(run.id, { limit: 100, cursor: steps.at(-1)?.id })
   */
  getSteps(runId: string, options?: PageOptions): Promise<Step[]> {
    return this[ENGINE].reader.getSteps(runId, options)
  }

  /**
   * Reads the signals that were sent to a run, and whether the run has received them. A signal that the run never waits for stays
   * unreceived.
   *
   * @example const lost = (await durably.getSignals(run.id)).filter((signal) => !signal.received)
   */
  getSignals(runId: string): Promise<SentSignal[]> {
    return this[ENGINE].reader.getSignals(runId)
  }

  /**
   * Reads the log lines of a run, in the order in which they were written. Lines are stored only with the plugin `withLogPersistence()`;
   * without it the list is empty. Give a `limit` where there may be many.
   */
  getLogs(runId: string, options?: PageOptions): Promise<Log[]> {
    return this[ENGINE].reader.getLogs(runId, options)
  }

  /**
   * Follows the events of a run, in whichever process it executes: first those that are already in its event log, then new ones, until the
   * run has ended. No event is skipped. To continue after a break, pass as `after` the `sequence` of the last event that you have seen.
   *
   * @example for await (const event of durably.subscribe(run.id)) console.log(event.type)
   */
  subscribe(runId: string, options?: SubscribeOptions): Subscription {
    return subscribe(this[ENGINE].follow, runId, options)
  }

  /**
   * Yields the newest runs that match, at once and again whenever one of them has changed. It ends when the loop over it is left, or when
   * its signal aborts.
   *
   * @example for await (const runs of durably.watchRuns({ status: 'running' })) console.log(runs.length)
   */
  watchRuns(filter?: WatchFilter, options?: WatchOptions): RunsSubscription {
    return watchRuns(this[ENGINE].runLists, filter, options)
  }

  /**
   * Puts a failed run back to `pending`: it continues after its last recorded step, and its attempts are counted anew. Any other status is
   * refused with the code `run_not_retryable`.
   */
  retry(id: string, options?: CommandOptions): Promise<Run> {
    return this[ENGINE].commands.retry(id, options)
  }

  /**
   * Cancels a run and the unfinished runs that it has triggered. `cancelled`: it was pending and will not start. `requested`: it is executing,
   * `ctx.signal` aborts, and it ends as `cancelled` when its function has settled. `refused`: it had already ended.
   */
  cancel(id: string, options?: CommandOptions): Promise<CancelOutcome['outcome']> {
    return this[ENGINE].commands.cancel(id, options)
  }

  /**
   * Sends a value to a run that waits for it with `ctx.waitFor(name)`, now or later. The first value under a name counts: a second one is
   * refused with the code `signal_taken`.
   *
   * @example await durably.signal(run.id, 'approval', { ok: true })
   */
  signal(runId: string, name: string, value: unknown, options?: SignalOptions): Promise<void> {
    return this[ENGINE].commands.signal(runId, name, value, options)
  }

  /**
   * Says what became of a step with `effect: 'once'` whose worker was lost while it ran, so that its run can go on.
   *
   * @example await durably.decide(run.id, 'charge', { done: { chargeId } })
   */
  decide(runId: string, stepName: string, decision: Decision, options?: ActorOption): Promise<void> {
    return this[ENGINE].commands.decide(runId, stepName, decision, options)
  }

  /** Counts all runs by phase. It takes the longer the more runs are kept, so use it for a dashboard, not for every request. */
  countsByPhase(): Promise<Record<Phase, number>> {
    return this[ENGINE].reader.countsByPhase()
  }

  /**
   * Removes runs that ended longer ago than `olderThan`, with their steps, logs, events and signals; returns how many. A run is kept while
   * the run that triggered it may still ask for it.
   *
   * @example await durably.purge({ olderThan: '30d', status: 'completed' })
   */
  purge(options: PurgeOptions): Promise<number> {
    return this[ENGINE].commands.purge(options)
  }

  /**
   * Cancels every pending and running run that matches, the oldest first. Runs that are triggered meanwhile are left alone. After a crash,
   * the same call continues with the rest.
   *
   * @example await durably.cancelRuns({ jobName: 'import', createdBefore: '2026-01-01T00:00:00Z' })
   */
  cancelRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome> {
    return lazyManyRuns(this[ENGINE], 'cancelRuns', filter, options)
  }

  /** Retries every failed run that matches. A run that cannot be retried is left as it is. */
  retryRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome> {
    return lazyManyRuns(this[ENGINE], 'retryRuns', filter, options)
  }

  /**
   * Deletes every run that matches and has ended, with its steps, logs, events and signals. A run that another one still needs is left as
   * it is.
   */
  deleteRuns(filter: RunConditions, options?: ManyRunsOptions): Promise<ManyRunsOutcome> {
    return lazyManyRuns(this[ENGINE], 'deleteRuns', filter, options)
  }

  /**
   * Deletes a run that has ended, with its steps, logs, events and signals. Its idempotency key can then be used again. A run that has not
   * ended is refused with the code `run_active`.
   */
  deleteRun(id: string, options?: CommandOptions): Promise<void> {
    return this[ENGINE].commands.deleteRun(id, options)
  }

  /**
   * Calls `listener` for each event of this type that happens in this process, at once and in order; for events of other processes use
   * `subscribe`. Returns a function that removes the listener.
   */
  on<T extends EventType>(type: T, listener: Listener<T>): Unsubscribe {
    return this[ENGINE].emitter.on(type, listener)
  }

  /**
   * Calls `handler` with the error of each listener that threw or whose promise rejected, and with the event that it was called for. Such
   * an error never affects a run. Without a handler it is logged.
   */
  onError(handler: ListenerErrorHandler): Unsubscribe {
    return this[ENGINE].emitter.onError(handler)
  }

  /** Installs a plugin, such as `withLogPersistence()`, and returns the instance. */
  use(plugin: Plugin): this {
    plugin.install(this[ENGINE].plugins, this)
    return this
  }

  /**
   * Says whether the store answers, whether the worker is alive, and how long the oldest due run has waited. It answers within two seconds,
   * also when the store does not.
   */
  health(): Promise<Health> {
    return health(this[ENGINE])
  }

  /**
   * Reads which jobs have runs that have been due for more than five seconds, but are defined neither here nor by a worker of the register
   * (`cluster()`) that is attached and not silent: how many runs, and since when. If they stay, no worker that was started has the job. At most
   * 20 jobs, the one that has waited for longest first.
   */
  unknownJobs(): Promise<UnknownJob[]> {
    return this[ENGINE].cluster.foreignJobs.unknown()
  }

  /** Says what this runtime, this database and this instance can do, for example whether other processes are notified of changes. */
  capabilities(): Promise<Capabilities> {
    return capabilities(this[ENGINE])
  }

  /** The Kysely instance on the database of `dialect`, for queries of your own. Reading it throws if the instance was given a `store`. */
  get db(): Kysely<DurablyTables> {
    const { db } = this[ENGINE]
    if (!db) throw new DurablyError('invalid_config', 'this instance was given a store, not a dialect: it has no Kysely instance')
    return db
  }

  /** Waits for the active runs and closes the database; a store that was passed in stays open. `await using durably = createDurably(…)` calls it. */
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
