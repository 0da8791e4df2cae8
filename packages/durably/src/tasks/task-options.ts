// The options of `createTaskQueue` and their defaults.
import { DURABLY_OPTIONS, type DurablyOptions } from '../config.ts'
import { memoryStore } from '../memory.ts'
import type { Duration } from '../model/duration.ts'
import { type Env, systemEnv } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { type RetryPolicy, retry } from '../model/retry-policy.ts'
import type { TaskLogger } from './log-line.ts'

/** How long a task queue keeps finished tasks. */
export interface RetentionOptions {
  /**
   * How many finished tasks are kept in the queue's own memory, the newest. With a `store` or a `dialect` use `ttl`. Default 10,000;
   * `Infinity` keeps all.
   */
  max?: number
  /** How long a finished task is kept, on every store. The worker removes older ones. Default: for ever. */
  ttl?: Duration
}

/** The options of `createTaskQueue`: those of `createDurably`, and these. Without `store` and `dialect`, the queue is in memory. */
export interface TaskQueueOptions extends Omit<DurablyOptions, 'retention' | 'logger'> {
  /** How long to wait before the next execution. Default: exponential from 1 s, doubling, at most 5 min, with full jitter. */
  retry?: RetryPolicy
  /** How many executions there are in all; `retry` may give up earlier, not later. Default 5; with `Infinity`, `retry` alone decides. */
  maxAttempts?: number
  /** How long finished tasks are kept. */
  retention?: RetentionOptions
  /** Called with a record for each change of a task. Default: no log. */
  logger?: TaskLogger
}

const TASK_OPTIONS: KeysOf<TaskQueueOptions> = { ...DURABLY_OPTIONS, retry: 1, maxAttempts: 1 }
const RETENTION: KeysOf<RetentionOptions> = { max: 1, ttl: 1 }

/** The queue has its own tables, so that counts, lists and redrives see no other runs. */
const TABLE_PREFIX = 'tasks_'
const ATTEMPTS_MAX = 5
const BACK_OFF = retry.exponential({ maxAttempts: Number.POSITIVE_INFINITY })
/** Finished tasks kept in memory: enough to look at, and a few megabytes. */
const FINISHED_MAX = 10_000

export interface TaskConfig {
  env: Env
  durably: DurablyOptions
  retry: RetryPolicy
  maxAttempts: number
}

/** Tasks have no nested steps, so they need no async scope, which doubles the cost of a small task on Node 20. */
function taskEnv(): Env {
  const { scope: _, ...env } = systemEnv()
  return env
}

export function readTaskOptions(options: TaskQueueOptions): TaskConfig {
  checkKeys('createTaskQueue', options, TASK_OPTIONS, 'invalid_config')
  checkKeys('retention', options.retention, RETENTION, 'invalid_config')
  const { retry: policy = BACK_OFF, maxAttempts = ATTEMPTS_MAX, retention, logger, ...durably } = options
  const env = options.env ?? taskEnv()
  return {
    env,
    // A queue has its own log, and its event `error`.
    durably: {
      ...storage(durably, env, finishedMax(options)),
      env,
      logger: false,
      ...(retention?.ttl !== undefined && { retention: retention.ttl }),
    },
    retry: limited(policy, maxAttempts),
    maxAttempts,
  }
}

function storage(durably: DurablyOptions, env: Env, endedMax: number): DurablyOptions {
  if (durably.store) return durably
  // A queue gives no access to the event log, nor to stacks in its own memory, so neither is kept.
  if (durably.dialect) return { tablePrefix: TABLE_PREFIX, eventLog: false, ...durably }
  const { eventLog = false, ...rest } = durably
  return { ...rest, store: memoryStore({ env, eventLog, errorStacks: false, endedMax }) }
}

function limited(policy: RetryPolicy, maxAttempts: number): RetryPolicy {
  if (typeof policy !== 'function')
    throw new DurablyError('invalid_config', 'retry must be a policy such as retry.exponential(), or nothing')
  if (maxAttempts !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(maxAttempts) && maxAttempts >= 1))
    throw new DurablyError('invalid_config', `maxAttempts must be a whole number of at least 1, or Infinity, got ${maxAttempts}`)
  return (attempt, error, chance) => (attempt < maxAttempts ? policy(attempt, error, chance) : 'dead')
}

function finishedMax({ store, dialect, retention }: TaskQueueOptions): number {
  const isOwn = !store && !dialect
  const max = retention?.max
  if (max === undefined) return isOwn ? FINISHED_MAX : Number.POSITIVE_INFINITY
  if (!isOwn)
    throw new DurablyError('invalid_config', "retention.max bounds the queue's own memory; with a store or a dialect use retention.ttl")
  if (max !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(max) && max >= 0))
    throw new DurablyError('invalid_config', `retention.max must be a whole number of at least 0, got ${max}`)
  return max
}
