// The options of `createDurably`, their defaults and their limits.
import type { Dialect } from 'kysely'
import type { ArchiveOption, ArchiveRule } from './archive/archive-option.ts'
import type { DurablyLogger } from './logging/logger.ts'
import { VALUE_BYTES_MAX } from './model/codec.ts'
import { type Duration, durationMs } from './model/duration.ts'
import { type Env, systemEnv } from './model/env.ts'
import { DurablyError } from './model/errors.ts'
import { checkKeys, type KeysOf } from './model/known-keys.ts'
import { checkName } from './model/name.ts'
import { type RetentionOption, type RetentionRule, retentionRules } from './model/retention.ts'
import type { DialectDefaults, TunedDialect } from './store/dialect-defaults.ts'
import type { Notifier, NotifierDeps, NotifyingDialect } from './store/notifier.ts'
import { LEASE_MS_MAX } from './store/runs.ts'
import type { Store } from './store/store.ts'

/** The options of `createDurably`. Only `dialect` or `store` is required. */
export interface DurablyOptions {
  /** A Kysely dialect, such as `sqlite('app.db')` or `postgres(url)`: the database that keeps the runs. Give either this or `store`. */
  dialect?: Dialect
  /** A store instead of a database, such as `memoryStore()`. Give either this or `dialect`. */
  store?: Store
  /** How often an idle worker looks for runs that no notification announced, in milliseconds. Default 1000. */
  pollingInterval?: number
  /**
   * How often a worker renews the lease of a run that writes nothing else, in milliseconds; at most half of `staleThreshold`. Default 5000,
   * or a third of `staleThreshold` if that is less.
   */
  heartbeatInterval?: number
  /**
   * The lease: if the worker of a run has written nothing for so long, in milliseconds, other workers take the run over. At most 24 hours.
   * Default 30000 (120000 with `browserDialect`), or three times `heartbeatInterval` if that is more.
   */
  staleThreshold?: number
  /**
   * How long a worker that was cut off keeps its run after its lease is over: it may come back within this time, and until then no other
   * worker takes the run. A duration such as `'2m'`; with `staleThreshold` at most 24 hours. Default 0.
   */
  confirmFor?: Duration
  /**
   * The name of this process, for people: it is shown where it leads, in each run that it executes and in `run:start`. At most 512 bytes.
   * Default: its host, its process id and a text that is new with each start.
   */
  workerId?: string
  /**
   * True: the worker stores the names of its jobs and the JSON Schemas of their inputs, for processes that do not define them. Default: only
   * if one of its jobs subscribes to events.
   */
  publishJobs?: boolean
  /** How many runs the worker of this instance executes at once. Default 1. */
  concurrency?: number
  /**
   * How many workers a run may lose in a row without recording a new step; at the next loss it fails with reason `crash_loop`. Default 10,
   * in a browser `Infinity`.
   */
  maxRecoveries?: number
  /**
   * Put before the name of every table, so that several installations can share a database: lower-case letters, digits and `_`. Default
   * none.
   */
  tablePrefix?: string
  /** True accepts SQLocal without OPFS, where everything is lost with the page. Default false: then it is an error. */
  allowMemory?: boolean
  /** False keeps no event log: runs are a little faster, and `subscribe` is not possible. Default true. */
  eventLog?: boolean
  /**
   * False: this process neither sends nor receives notifications, and finds changes of other processes by polling only. Default true where
   * the dialect has notifications.
   */
  notifications?: boolean
  /**
   * How long runs are kept after they ended: `'30d'`, or by status `{ completed: '7d' }`. The worker removes older ones. Default: for ever.
   */
  retention?: RetentionOption
  /**
   * Moves the events and log lines of runs that ended longer ago than `after` to compressed files; `subscribe` and `getLogs` read them
   * there. Give it to every process on the database. Default: they stay in the database.
   */
  archive?: ArchiveOption
  /**
   * The largest value that is stored (an input, a step's result, an output), in bytes of its encoded form. A larger one is refused with the
   * code `value_too_large`. Default 10 MiB.
   */
  maxValueBytes?: number
  /**
   * Where failed runs, lost leases, take-overs and listeners that throw are logged, one line each and without payloads. Takes `console`,
   * pino, or any object with `debug`, `info`, `warn` and `error`; `false` logs nothing. Default: the console.
   */
  logger?: DurablyLogger | false
  /** The source of time, timers, ids and random numbers. Tests pass `virtualEnv()`. Default: those of the system. */
  env?: Env
}

export const DURABLY_OPTIONS: KeysOf<DurablyOptions> = {
  dialect: 1,
  store: 1,
  pollingInterval: 1,
  heartbeatInterval: 1,
  staleThreshold: 1,
  confirmFor: 1,
  workerId: 1,
  publishJobs: 1,
  concurrency: 1,
  maxRecoveries: 1,
  tablePrefix: 1,
  allowMemory: 1,
  eventLog: 1,
  notifications: 1,
  retention: 1,
  archive: 1,
  maxValueBytes: 1,
  logger: 1,
  env: 1,
}

export interface Config {
  pollingMs: number
  heartbeatMs: number
  leaseMs: number
  confirmMs: number
  /** Null for the default. */
  workerId: string | null
  publishesJobs: boolean
  concurrency: number
  maxRecoveries: number
  maxValueBytes: number
  retention: readonly RetentionRule[]
  /** Null where nothing is archived. */
  archive: ArchiveRule | null
  env: Env
  /** Opens the notifier of the database; null if it has none, or notifications are off. */
  openNotifier: ((deps: Omit<NotifierDeps, 'channel'>) => Notifier) | null
}

export function readConfig(options: DurablyOptions): Config {
  checkKeys('createDurably', options, DURABLY_OPTIONS, 'invalid_config')
  if ((options.dialect === undefined) === (options.store === undefined)) {
    throw new DurablyError('invalid_config', 'createDurably needs either a dialect or a store, e.g. { dialect: sqlite("app.db") }')
  }
  if (options.store !== undefined && options.eventLog !== undefined)
    throw new DurablyError('invalid_config', 'eventLog is an option of the store that you made, e.g. memoryStore({ eventLog: false })')
  const defaults = defaultsOf(options)
  const threeBeats = 3 * milliseconds('heartbeatInterval', options.heartbeatInterval ?? 1, LEASE_MS_MAX)
  const longEnough = Math.min(Math.max(defaults.staleThreshold ?? 30_000, threeBeats), LEASE_MS_MAX)
  const leaseMs = milliseconds('staleThreshold', options.staleThreshold ?? longEnough, LEASE_MS_MAX)
  const heartbeatMs = options.heartbeatInterval ?? Math.max(1, Math.min(5000, Math.floor(leaseMs / 3)))
  if (heartbeatMs > leaseMs / 2) {
    throw new DurablyError(
      'invalid_config',
      `heartbeatInterval (${heartbeatMs} ms) must be at most half of staleThreshold (${leaseMs} ms): one late heartbeat would lose the run`,
    )
  }
  const retention = retentionRules(options.retention)
  return {
    leaseMs,
    confirmMs: confirmMs(options, leaseMs),
    heartbeatMs,
    pollingMs: milliseconds('pollingInterval', options.pollingInterval ?? 1000, LEASE_MS_MAX),
    workerId: options.workerId === undefined ? null : checkName('workerId', options.workerId),
    publishesJobs: options.publishJobs === true,
    concurrency: wholeNumber('concurrency', options.concurrency ?? 1, 1),
    maxRecoveries: recoveries(options.maxRecoveries ?? (isBrowser() ? Number.POSITIVE_INFINITY : 10)),
    maxValueBytes: wholeNumber('maxValueBytes', options.maxValueBytes ?? VALUE_BYTES_MAX, 1),
    retention,
    archive: archiveRule(options, retention),
    env: options.env ?? defaults.env?.() ?? systemEnv(),
    openNotifier: notifierOf(options),
  }
}

function confirmMs({ confirmFor = 0 }: DurablyOptions, leaseMs: number): number {
  const ms = durationMs('confirmFor', confirmFor)
  if (leaseMs + ms <= LEASE_MS_MAX) return ms
  throw new DurablyError('invalid_config', `confirmFor (${ms} ms) and staleThreshold (${leaseMs} ms) must be at most 24 hours together`)
}

function archiveRule({ archive, store }: DurablyOptions, retention: readonly RetentionRule[]): ArchiveRule | null {
  if (!archive) return null
  const { files } = archive
  const afterMs = durationMs('archive.after', archive.after)
  const isTooLate = retention.some(({ statuses, olderThanMs }) => statuses.length > 1 && olderThanMs <= afterMs)
  if ([files?.write, files?.read, files?.remove].every(Boolean) && !isTooLate && (!store || store.archive)) return { files, afterMs }
  throw new DurablyError(
    'invalid_config',
    'archive needs files with write, read and remove, an after shorter than retention, and a store that can archive',
  )
}

function notifierOf({ dialect, notifications = true, tablePrefix = '' }: DurablyOptions): Config['openNotifier'] {
  if (!notifications || !dialect || !('openNotifier' in dialect)) return null
  return (deps) => (dialect as Dialect & NotifyingDialect).openNotifier({ ...deps, channel: `${tablePrefix}durably` })
}

function defaultsOf({ dialect }: DurablyOptions): DialectDefaults {
  return dialect && 'defaults' in dialect ? (dialect as Dialect & TunedDialect).defaults : {}
}

function milliseconds(field: string, value: number, max: number): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > max) {
    throw new DurablyError('invalid_config', `${field} must be a whole number of milliseconds from 1 to ${max}, got ${value}`)
  }
  return value
}

function recoveries(value: number): number {
  return value === Number.POSITIVE_INFINITY ? value : wholeNumber('maxRecoveries', value, 0)
}

/** In a browser workers are lost without a fault of the run: tabs are reloaded and closed at will. Only browsers have files of an origin. */
function isBrowser(): boolean {
  return typeof globalThis.navigator?.storage?.getDirectory === 'function'
}

function wholeNumber(field: string, value: number, min: number): number {
  if (!Number.isSafeInteger(value) || value < min) {
    throw new DurablyError('invalid_config', `${field} must be a whole number of at least ${min}, got ${value}`)
  }
  return value
}
