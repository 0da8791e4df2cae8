// The composition root: wires the parts together, holds no logic of its own.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Kysely } from 'kysely'
import { type Capabilities, capabilitiesOf } from './capabilities.ts'
import { type Config, type DurablyOptions, readConfig } from './config.ts'
import { ChangeBus } from './events/change-bus.ts'
import { Emitter, type Listener, type ListenerErrorHandler, type Unsubscribe } from './events/emitter.ts'
import { LogLineWriter } from './events/log-line-writer.ts'
import { publishingStore } from './events/publishing-store.ts'
import { RunEvents } from './events/run-events.ts'
import { RunListWatcher } from './events/run-list-watcher.ts'
import { RunWatch } from './events/run-watch.ts'
import type { TailDeps } from './events/tail.ts'
import { jsonCodec } from './model/codec.ts'
import type { Decision } from './model/effect.ts'
import { type Env, loaded, shortScope } from './model/env.ts'
import { DurablyError } from './model/errors.ts'
import type { EventType } from './model/event.ts'
import { failureOf } from './model/failure.ts'
import { checkJob, type Job, type JobContext, type JobDefinition } from './model/job.ts'
import type { Log } from './model/log.ts'
import type { Phase } from './model/phase.ts'
import type { Run } from './model/run.ts'
import type { Step } from './model/step.ts'
import { TurnBudget } from './model/turn-budget.ts'
import type { Plugin, PluginHost } from './plugin.ts'
import { type JobHandle, type JobHandleDeps, jobHandle } from './runs/job-handle.ts'
import { outsideTransactions } from './runs/outside-transactions.ts'
import { type PurgeOptions, RunCommands, type SignalOptions } from './runs/run-commands.ts'
import { type RunFilter, RunReader } from './runs/run-reader.ts'
import { type SubscribeOptions, type Subscription, subscribe } from './runs/subscribe.ts'
import type { TriggerDeps } from './runs/trigger.ts'
import { type RunsSubscription, type WatchFilter, type WatchOptions, watchRuns } from './runs/watch-runs.ts'
import type { CancelOutcome, IfVersion } from './store/runs.ts'
import { lateSqlStore } from './store/sql/late-sql-store.ts'
import type { DurablyTables } from './store/sql/schema.ts'
import type { Store } from './store/store.ts'
import type { UntilIdleOptions } from './worker/loop/process-until-idle.ts'
import { Worker } from './worker/loop/worker.ts'
import { persistEvent } from './worker/persist-event.ts'
import type { StepScope, StepWrapper } from './worker/steps/step-wrapper.ts'

/**
 * Makes an instance: the jobs you define on it, its worker, its view of the database.
 *
 * @example const durably = createDurably({ dialect: sqlite('app.db') })
 */
export function createDurably(options: DurablyOptions): Durably {
  return new Durably(options)
}

/** What the other vocabularies of this package are built on; it is not exported from it. */
export interface EngineParts {
  store: Store
  env: Env
  pollingMs: number
  jobs: ReadonlyMap<string, Job>
  reader: RunReader
  commands: RunCommands
  trigger: TriggerDeps
  tail: TailDeps
  /** Which attempt of a run this process executes; `undefined` when it executes none. */
  attemptOf: (runId: string) => number | undefined
}

export function engineParts(durably: Durably): EngineParts {
  return partsOf(durably)
}

let partsOf: (durably: Durably) => EngineParts

export class Durably implements AsyncDisposable {
  static {
    partsOf = (durably) => ({
      store: durably.#store,
      env: durably.#config.env,
      pollingMs: durably.#config.pollingMs,
      jobs: durably.#jobs,
      reader: durably.#reader,
      commands: durably.#commands,
      trigger: durably.#handleDeps.trigger,
      tail: durably.#tail,
      attemptOf: (runId) => durably.#worker.execution(runId)?.attempt,
    })
  }

  readonly #config: Config
  readonly #dialect: DurablyOptions['dialect']
  readonly #store: Store
  readonly #changes: ChangeBus
  readonly #tail: TailDeps
  readonly #pages: RunListWatcher
  readonly #db: Kysely<DurablyTables> | undefined
  readonly #emitter: Emitter
  readonly #worker: Worker
  readonly #logLines: LogLineWriter
  readonly #reader: RunReader
  readonly #commands: RunCommands
  readonly #handleDeps: JobHandleDeps
  readonly #jobs = new Map<string, Job>()
  readonly #handles = new Map<string, JobHandle<string, unknown, unknown>>()
  readonly #stepWrappers: StepWrapper[] = []
  readonly #pluginHost: PluginHost
  /** Throws inside `ctx.transaction`. */
  readonly #admit: () => void

  constructor(options: DurablyOptions) {
    const config = readConfig(options)
    const { env, pollingMs, leaseMs } = config
    const codec = jsonCodec(config.maxValueBytes)
    const emitter = new Emitter(env)
    const runEvents = new RunEvents(emitter, codec, env)
    const report = (error: unknown, runId: string | null = null) =>
      emitter.emit({ type: 'worker:error', error: failureOf(error).message, cause: error, runId })
    const { store: opened, db } = openStore(options, config)
    const changes = new ChangeBus({ ...config, report })
    const store = publishingStore(opened, (change) => changes.publish(change))
    const { runs, logs, events } = store
    const stepScope = env.scope?.<StepScope>() ?? shortScope<StepScope>()
    /** On SQLite it would wait for the very transaction that waits for it; the same code shall do the same on Postgres. */
    const admit = () => {
      const scope = stepScope.current()
      if (scope?.isTransaction)
        throw new DurablyError(
          'transaction_open',
          `durably was called inside transaction ${JSON.stringify(scope.stepName)}; use trx or trigger(…, { tx: trx }), or call it before or after`,
        )
    }
    const outside = outsideTransactions(store, admit)
    const worker = new Worker({
      ...config,
      store,
      codec,
      emitter,
      runEvents,
      report,
      jobs: this.#jobs,
      leadership: opened.openLeadership?.({ env, leaseMs, report }) ?? null,
      stepWrappers: this.#stepWrappers,
      stepScope,
      turn: new TurnBudget(env),
    })
    const watch = new RunWatch({ events, env, pollingMs, onWatch: () => changes.open() })
    const pages = new RunListWatcher({ runs, env, codec, pollingMs, onWatch: () => changes.open(), admit })
    changes.deliverTo(worker, watch, pages)
    const logLines = new LogLineWriter({ logs, env, report })
    this.#admit = admit
    this.#config = config
    this.#dialect = options.dialect
    this.#store = store
    this.#changes = changes
    this.#tail = { store: outside, env, codec, watch }
    this.#pages = pages
    this.#db = db
    this.#emitter = emitter
    this.#worker = worker
    this.#logLines = logLines
    this.#reader = new RunReader({ store: outside, env, codec })
    this.#commands = new RunCommands({ runs: outside.runs, signals: outside.signals, env, codec, runEvents })
    this.#handleDeps = {
      codec,
      reader: this.#reader,
      trigger: { runs, env, codec, runEvents, admit },
      wait: { runs, env, watch },
      isInsideRun: () => worker.isInsideRun,
    }
    this.#pluginHost = {
      on: (type, listener) => emitter.on(type, listener),
      onError: (handler) => emitter.onError(handler),
      wrapStep: (wrapper) => void this.#stepWrappers.push(wrapper),
      persistEvent: (event, line) => persistEvent({ worker, logLines, codec, env }, event, line),
    }
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
  >(
    definition: JobDefinition<TName, TInput, TOutput>,
    run: (
      ctx: JobContext,
      payload: StandardSchemaV1.InferOutput<TInput>,
    ) => JobResult<TOutput, TReturn> | Promise<JobResult<TOutput, TReturn>>,
  ): JobHandle<TName, StandardSchemaV1.InferInput<TInput>, JobOutput<TOutput, TReturn>> {
    const job = { ...definition, run } as unknown as Job & { name: TName }
    checkJob(job)
    if (this.#jobs.has(job.name))
      throw new DurablyError(
        'duplicate_job',
        `job ${JSON.stringify(job.name)} is already defined on this instance; define each job once and share its handle`,
      )
    this.#jobs.set(job.name, job)
    const handle = jobHandle<TName, StandardSchemaV1.InferInput<TInput>, JobOutput<TOutput, TReturn>>(job, this.#handleDeps)
    this.#handles.set(job.name, handle as JobHandle<string, unknown, unknown>)
    this.#worker.wake()
    return handle
  }

  /** The jobs that are defined on this instance, by name. */
  get jobs(): ReadonlyMap<string, JobHandle<string, unknown, unknown>> {
    return this.#handles
  }

  /** Creates or updates the tables; idempotent, safe when several processes call it at once. */
  async migrate(): Promise<void> {
    this.#admit()
    return this.#store.migrate()
  }

  /** Starts the worker. */
  start(): void {
    this.#changes.open()
    this.#worker.start()
  }

  /**
   * Waits for the runs in hand, except inside one of them. With `timeout` (ms) they are then asked to stop and given back, and it
   * answers soon after. The database stays open.
   */
  async stop(options?: { timeout?: number }): Promise<void> {
    const { env } = this.#config
    const end = env.mono() + (options?.timeout ?? Number.POSITIVE_INFINITY)
    await this.#worker.stop(options)
    await this.#logLines.drain(end - env.mono())
    await this.#changes.flush()
  }

  /** Claims and executes one run, without `start()`; false when there is none. */
  async processOne(): Promise<boolean> {
    this.#admit()
    const found = await this.#worker.processOne()
    await this.#logLines.drain()
    return found
  }

  /** Executes what is due, without `start()`, and returns how many runs that were; for serverless functions and tests. */
  async processUntilIdle(options?: UntilIdleOptions): Promise<number> {
    this.#admit()
    const { processUntilIdle } = await loaded(this.#config.env, () => import('./worker/loop/process-until-idle.ts'))
    const processed = await processUntilIdle(this.#worker, this.#config, options)
    await this.#logLines.drain()
    return processed
  }

  getRun(id: string): Promise<Run | null> {
    return this.#reader.getRun(id)
  }

  getRuns(filter?: RunFilter): Promise<Run[]> {
    return this.#reader.getRuns(filter)
  }

  getSteps(runId: string): Promise<Step[]> {
    return this.#reader.getSteps(runId)
  }

  getLogs(runId: string): Promise<Log[]> {
    return this.#reader.getLogs(runId)
  }

  /**
   * The events of a run, wherever it runs: those of the log, then live, until the run has ended. Nothing is skipped; after a
   * break go on with `after`, the `sequence` of the last event that was seen.
   *
   * @example for await (const event of durably.subscribe(run.id)) console.log(event.type)
   */
  subscribe(runId: string, options?: SubscribeOptions): Subscription {
    return subscribe(this.#tail, runId, options)
  }

  /**
   * The newest runs that match, now and whenever one of them changed; until it is left or its signal aborts.
   *
   * @example for await (const runs of durably.watchRuns({ status: 'running' })) console.log(runs.length)
   */
  watchRuns(filter?: WatchFilter, options?: WatchOptions): RunsSubscription {
    return watchRuns(this.#pages, filter, options)
  }

  retry(id: string, options?: IfVersion): Promise<Run> {
    return this.#commands.retry(id, options)
  }

  cancel(id: string, options?: IfVersion): Promise<CancelOutcome['outcome']> {
    return this.#commands.cancel(id, options)
  }

  /**
   * Sends a value to a run that waits for it with `ctx.waitFor(name)`, or will. The first under a name wins.
   *
   * @example await durably.signal(run.id, 'approval', { ok: true })
   */
  signal(runId: string, name: string, value: unknown, options?: SignalOptions): Promise<void> {
    return this.#commands.signal(runId, name, value, options)
  }

  /**
   * Says what became of an effect (`effect: 'once'`) whose worker was lost, so that its run can go on.
   *
   * @example await durably.decide(run.id, 'charge', { done: { chargeId } })
   */
  decide(runId: string, stepName: string, decision: Decision): Promise<void> {
    return this.#commands.decide(runId, stepName, decision)
  }

  /** How many runs are in each phase. Counts them all: for a dashboard, not for a hot path. */
  countsByState(): Promise<Record<Phase, number>> {
    return this.#reader.countsByState()
  }

  /**
   * Removes runs that ended long ago, with their steps, logs, events and signals; returns how many.
   *
   * @example await durably.purge({ olderThan: '30d', status: 'completed' })
   */
  purge(options: PurgeOptions): Promise<number> {
    return this.#commands.purge(options)
  }

  deleteRun(id: string, options?: IfVersion): Promise<void> {
    return this.#commands.deleteRun(id, options)
  }

  on<T extends EventType>(type: T, listener: Listener<T>): Unsubscribe {
    return this.#emitter.on(type, listener)
  }

  /** Hears of listeners that threw or rejected. */
  onError(handler: ListenerErrorHandler): Unsubscribe {
    return this.#emitter.onError(handler)
  }

  use(plugin: Plugin): this {
    plugin.install(this.#pluginHost)
    return this
  }

  /** What this runtime, this database and this instance can do. */
  capabilities(): Promise<Capabilities> {
    return capabilitiesOf({
      store: this.#store,
      dialect: this.#dialect,
      notifications: this.#config.openNotifier !== null,
      executes: this.#worker.isWorking,
    })
  }

  /** The Kysely instance, for queries of your own. */
  get db(): Kysely<DurablyTables> {
    if (!this.#db) throw new DurablyError('invalid_config', 'this instance was given a store, not a dialect: it has no Kysely instance')
    return this.#db
  }

  /** Waits for the runs in hand and closes the database; a store that was handed in stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#changes.close()
    if (this.#db) await this.#store.close()
  }
}

type JobOutput<TOutput extends StandardSchemaV1 | undefined, TReturn> = TOutput extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<TOutput>
  : TReturn
type JobResult<TOutput extends StandardSchemaV1 | undefined, TReturn> = TOutput extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<TOutput>
  : TReturn

function openStore(options: DurablyOptions, { env }: Config): { store: Store; db?: Kysely<DurablyTables> } {
  const { dialect, tablePrefix, eventLog, allowMemory } = options
  if (!dialect) return { store: options.store as Store }
  const store = lateSqlStore({ dialect, env, tablePrefix, eventLog, allowMemory })
  return { store, db: store.db }
}
