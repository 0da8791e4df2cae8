// Engine — the parts of one instance, connected: its store, its worker, and what callers ask about runs. `Durably` has the public methods.
import type { Kysely } from 'kysely'
import { lazyTidying, withArchive } from './archive/lazy-archive.ts'
import type { ClusterDeps, ClusterParts } from './cluster/cluster-parts.ts'
import { type LazyDuties, lazyClusterParts, lazyDuties, lazyPublishJobs } from './cluster/lazy-cluster.ts'
import { type Config, type DurablyOptions, readConfig } from './config.ts'
import { ChangeBus } from './events/change-bus.ts'
import { Emitter } from './events/emitter.ts'
import type { FollowDeps } from './events/followed-logs.ts'
import { LazyLogLines } from './events/lazy-log-lines.ts'
import { LazyRunLists } from './events/lazy-run-lists.ts'
import { publishingStore } from './events/publishing-store.ts'
import { RunEvents } from './events/run-events.ts'
import { RunWatch } from './events/run-watch.ts'
import { lazyTroubleLog } from './logging/lazy-trouble-log.ts'
import type { DurablyLogger } from './logging/logger.ts'
import { jsonCodec } from './model/codec.ts'
import { type Scope, shortScope } from './model/env.ts'
import { DurablyError } from './model/errors.ts'
import { failureOf } from './model/failure.ts'
import type { Job } from './model/job.ts'
import { TurnBudget } from './model/turn-budget.ts'
import type { PluginHost } from './plugin.ts'
import type { JobHandle, JobHandleDeps } from './runs/job-handle.ts'
import { lazyRunCommands } from './runs/lazy-run-commands.ts'
import { outsideTransactions } from './runs/outside-transactions.ts'
import type { RunCommands } from './runs/run-commands.ts'
import { RunReader } from './runs/run-reader.ts'
import { type TriggerDeps, triggerAll } from './runs/trigger.ts'
import type { TriggerWrapper } from './runs/trigger-wrapper.ts'
import { lazySqlStore } from './store/sql/lazy-sql-store.ts'
import type { DurablyTables } from './store/sql/shared/schema.ts'
import type { Store } from './store/store.ts'
import { LazyWorker } from './worker/loop/lazy-worker.ts'
import { persistEvent } from './worker/persist-event.ts'
import type { RunWrapper } from './worker/run-wrapper.ts'
import type { StepScope, StepWrapper } from './worker/steps/step-wrapper.ts'

/** Where `Durably` keeps its engine, for the other parts of this package, such as the task queue. It is not exported from the package. */
export const ENGINE: unique symbol = Symbol('engine')

export interface Engine extends Config {
  dialect: DurablyOptions['dialect']
  /** Null for the console. */
  logger: DurablyLogger | false | null
  /** Aborts when the started worker is stopped. */
  left: AbortController | null
  report: (error: unknown, runId?: string | null) => void
  store: Store
  /** Null when the instance was given a store. */
  db: Kysely<DurablyTables> | null
  emitter: Emitter
  worker: LazyWorker
  duties: LazyDuties
  cluster: ClusterParts
  changes: ChangeBus
  logLines: LazyLogLines
  /** Resolves when the lines about trouble so far are written. */
  logged: () => Promise<unknown>
  runLists: LazyRunLists
  reader: RunReader
  commands: RunCommands
  trigger: TriggerDeps
  handleDeps: JobHandleDeps
  follow: FollowDeps
  plugins: PluginHost
  /** By name; the worker claims runs of these. */
  jobs: Map<string, Job>
  handles: Map<string, JobHandle<string, unknown, unknown>>
  /** Throws inside `ctx.transaction`. */
  refuseInTransaction: () => void
}

export function createEngine(options: DurablyOptions): Engine {
  const base = createBase(options)
  const { shared, store, opened, changes, publish, jobs } = base
  const { env, codec, emitter } = shared
  const { runs, logs, events } = store
  const { duties, worker, publishJobs, stepWrappers, runWrappers, stepScope } = createWorkerParts(base)
  const triggerWrappers: TriggerWrapper[] = []
  const refuseInTransaction = () => refuseInsideTransaction(stepScope)
  const outside = outsideTransactions(store, refuseInTransaction)
  const whole = withArchive(outside, shared)
  const onWatch = () => changes.open()
  const watch = new RunWatch({ events, onWatch, ...shared })
  const runLists = new LazyRunLists({ runs, onWatch, refuseInTransaction, ...shared })
  changes.deliverTo(worker, watch, runLists)
  const { logger = null } = options
  const logged = logger === false ? async () => {} : lazyTroubleLog({ emitter, env, logger })
  const logLines = new LazyLogLines({ logs, ...shared })
  const reader = new RunReader({ store: whole, hasWorker: (jobName) => worker.isWorking && jobs.has(jobName), ...shared })
  const trigger = { runs, triggerWrappers, refuseInTransaction, ...shared }
  const triggerJob: ClusterDeps['triggerJob'] = (job, inputs) => triggerAll(trigger, job, inputs)
  const commands = lazyRunCommands({ jobs, runs: outside.runs, signals: outside.signals, publish, ...shared })
  return {
    dialect: options.dialect,
    logger,
    left: null,
    store,
    db: opened.db,
    worker,
    duties,
    cluster: lazyClusterParts({ store, jobs, publish, publishJobs, triggerJob, cluster: outside.cluster, runs: outside.runs, ...shared }),
    changes,
    logLines,
    logged,
    runLists,
    reader,
    commands,
    trigger,
    handleDeps: { codec, reader, commands, trigger, wait: { env, runs, watch }, isInsideRun: () => worker.isInsideRun },
    follow: { store: whole, archives: !!shared.archive, watch, ...shared },
    plugins: {
      on: (type, listener) => emitter.on(type, listener),
      onError: (handler) => emitter.onError(handler),
      wrapStep: (wrapper) => void stepWrappers.push(wrapper),
      wrapRun: (wrapper) => void runWrappers.push(wrapper),
      wrapTrigger: (wrapper) => void triggerWrappers.push(wrapper),
      persistEvent: (event, line) => persistEvent({ ...shared, worker, logLines }, event, line),
    },
    jobs,
    handles: new Map(),
    refuseInTransaction,
    ...shared,
  }
}

/** What the worker and the callers both use. */
function createBase(options: DurablyOptions) {
  const config = readConfig(options)
  const { env } = config
  const codec = jsonCodec(config.maxValueBytes)
  const emitter = new Emitter(env)
  const report: Engine['report'] = (error, runId = null) =>
    emitter.emit({ type: 'worker:error', error: failureOf(error).message, cause: error, runId })
  // Wherever it goes, a spread comes last: on Node 20 what follows one gives every object a hidden class of its own, and all that read it are slow.
  const shared = { codec, emitter, report, runEvents: new RunEvents(emitter, codec, env), ...config }
  const opened = openStore(options, config)
  const changes = new ChangeBus(shared)
  const publish: ChangeBus['publish'] = (change) => changes.publish(change)
  return { shared, opened, changes, publish, store: publishingStore(opened.store, publish), jobs: new Map<string, Job>() }
}

/** What executes runs, and what an elected process does beside it. */
function createWorkerParts({ shared, opened, publish, store, jobs }: ReturnType<typeof createBase>) {
  const { env } = shared
  const stepScope = env.scope?.<StepScope>() ?? shortScope<StepScope>()
  const stepWrappers: StepWrapper[] = []
  const runWrappers: RunWrapper[] = []
  const leadership = opened.store.openLeadership?.(shared) ?? null
  const jobNames = () => [...jobs.values()].filter(({ runsOn }) => duties.fits(runsOn)).map(({ name }) => name)
  const duties = lazyDuties({ runs: store.runs, cluster: store.cluster, publish, jobNames, ...shared })
  const perform: LazyDuties['perform'] = (...args) => duties.perform(...args)
  const claim: LazyDuties['claim'] = (request) => duties.claim(request)
  const publishJobs = lazyPublishJobs({ store, jobs, ...shared })
  const tidying = lazyTidying({ store, ...shared })
  const turn = new TurnBudget(env)
  const inRuns = { stepWrappers, runWrappers, stepScope, turn }
  const worker = new LazyWorker({ store, jobs, leadership, jobNames, claim, perform, publishJobs, tidying, ...inRuns, ...shared })
  return { duties, worker, publishJobs, stepWrappers, runWrappers, stepScope }
}

/** On SQLite the call would wait for the transaction, which waits for the call. Postgres refuses it too, so that both behave the same. */
function refuseInsideTransaction(stepScope: Scope<StepScope>): void {
  const scope = stepScope.current()
  if (scope?.isTransaction)
    throw new DurablyError(
      'transaction_open',
      `durably was called inside transaction ${JSON.stringify(scope.stepName)}; use trx or trigger(…, { tx: trx }), or call it before or after`,
    )
}

function openStore(options: DurablyOptions, { env }: Config): { store: Store; db: Engine['db'] } {
  const { dialect, tablePrefix, eventLog, allowMemory } = options
  if (!dialect) return { store: options.store as Store, db: null }
  const store = lazySqlStore({ dialect, env, tablePrefix, eventLog, allowMemory })
  return { store, db: store.db }
}
