// RetryPolicy — whether a failed attempt is tried again, and when. A pure function: anyone can write one.
//   P1. `attempt` counts the failures, this one included: 1 after the first.
//   P2. What is thrown can steer it: NonRetryableError ends it, `retryAfter(error, delay)` sets the delay. But a policy
//       that has given up is not overruled.
import { DURATION_MS_MAX, type Duration, durationMs } from './duration.ts'
import { DurablyError } from './errors.ts'
import { checkKeys, type KeysOf } from './known-keys.ts'

/**
 * Decides what follows a failed attempt: returns the delay before the next one in milliseconds, or `'dead'` to give up. `attempt` counts
 * the failures so far, this one included, and `chance` returns a random number from 0 to 1. Use `retry.fixed` or `retry.exponential`, or
 * write your own.
 */
export type RetryPolicy = (attempt: number, error: unknown, chance: Chance) => number | 'dead'

/** Uniform in [0, 1): what a policy may use to scatter its delays. */
export type Chance = () => number

/** The options of `retry.fixed`. */
export interface FixedRetry {
  /** The number of attempts in all, the first one included: at least 1, or `Infinity`. */
  maxAttempts: number
  /** The pause before each further attempt. Default 0. */
  delay?: Duration
}

/** The options of `retry.exponential`. */
export interface ExponentialRetry {
  /** The number of attempts in all, the first one included: at least 1, or `Infinity`. Default 5. */
  maxAttempts?: number
  /** The longest possible pause after the first failure. Default 1 s. */
  initial?: Duration
  /** By how much the longest possible pause grows with each further failure: at least 1. Default 2. */
  factor?: number
  /** The longest pause of all. Default 5 min. */
  max?: Duration
}

const FIXED: KeysOf<FixedRetry> = { maxAttempts: 1, delay: 1 }
const EXPONENTIAL: KeysOf<ExponentialRetry> = { maxAttempts: 1, initial: 1, factor: 1, max: 1 }

/** Retry policies for jobs, steps and task queues. */
export const retry = {
  /** Never tries again. This is the default of jobs and steps. */
  none(): RetryPolicy {
    return () => 'dead'
  },

  /** Tries again after the same pause each time. */
  fixed(options: FixedRetry): RetryPolicy {
    checkKeys('retry.fixed', options, FIXED)
    const { maxAttempts, delay = 0 } = options ?? {}
    checkAttempts(maxAttempts)
    const delayMs = durationMs('delay', delay)
    return (attempt) => (attempt < maxAttempts ? delayMs : 'dead')
  },

  /**
   * Tries again after pauses that grow. Each pause is random, between 0 and a limit that grows with each failure (full jitter), so that
   * many runs that failed together do not come back together.
   */
  exponential(options: ExponentialRetry = {}): RetryPolicy {
    checkKeys('retry.exponential', options, EXPONENTIAL)
    const { maxAttempts = 5, initial = 1000, factor = 2, max = 300_000 } = options
    checkAttempts(maxAttempts)
    const [initialMs, maxMs] = [durationMs('initial', initial), durationMs('max', max)]
    if (!(factor >= 1)) throw new DurablyError('invalid_argument', `factor must be a number of at least 1, got ${factor}`)
    return (attempt, _error, chance) =>
      attempt < maxAttempts ? Math.round(chance() * Math.min(maxMs, initialMs * factor ** (attempt - 1))) : 'dead'
  },
}

function checkAttempts(maxAttempts: number): void {
  if (maxAttempts === Number.POSITIVE_INFINITY || (Number.isSafeInteger(maxAttempts) && maxAttempts >= 1)) return
  throw new DurablyError('invalid_argument', `maxAttempts must be a whole number of at least 1, got ${maxAttempts}`)
}

/** Throw it in a job or a step if trying again would not help: whatever its policy says, there is no further attempt. */
export class NonRetryableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NonRetryableError'
  }
}

const delays = new WeakMap<object, number>()

/**
 * Returns the same error, to be thrown: the next attempt comes after `delay`, instead of the pause that the policy would have chosen. It
 * does not add an attempt to a policy that gives up.
 *
 * @example throw retryAfter(new Error('429 Too Many Requests'), '30s')
 */
export function retryAfter<E extends object>(error: E, delay: Duration): E {
  delays.set(error, durationMs('delay', delay))
  return error
}

/** What becomes of the attempt that threw `error` (P2). Throws when the policy does, or answers nonsense. */
export function nextAttempt(policy: RetryPolicy, attempt: number, error: unknown, chance: Chance): number | 'dead' {
  if (isNonRetryable(error)) return 'dead'
  const chosen = policy(attempt, error, chance)
  if (chosen === 'dead') return 'dead'
  if (typeof chosen !== 'number' || !(chosen >= 0) || chosen === Number.POSITIVE_INFINITY)
    throw new DurablyError('invalid_argument', `a retry policy must return a delay in milliseconds or 'dead', got ${String(chosen)}`)
  return Math.min(Math.ceil(delays.get(error as object) ?? chosen), DURATION_MS_MAX)
}

/** Even `instanceof` runs code of its operand. */
function isNonRetryable(error: unknown): boolean {
  try {
    return error instanceof NonRetryableError
  } catch {
    return false
  }
}
