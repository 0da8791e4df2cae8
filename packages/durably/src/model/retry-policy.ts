// RetryPolicy — whether a failed attempt is tried again, and when. A pure function: anyone can write one.
//   P1. `attempt` counts the failures, this one included: 1 after the first.
//   P2. What is thrown can steer it: NonRetryableError ends it, `retryAfter(error, delay)` sets the delay. But a policy
//       that has given up is not overruled.
import { DURATION_MS_MAX, type Duration, durationMs } from './duration.ts'
import { DurablyError } from './errors.ts'
import { checkKeys, type KeysOf } from './known-keys.ts'

export type RetryPolicy = (attempt: number, error: unknown, chance: Chance) => number | 'dead'

/** Uniform in [0, 1): what a policy may use to scatter its delays. */
export type Chance = () => number

export interface FixedRetry {
  /** Executions in all, the first one included. */
  maxAttempts: number
  delay?: Duration
}

export interface ExponentialRetry {
  /** Executions in all, the first one included. Default 5. */
  maxAttempts?: number
  /** The ceiling of the first delay. Default 1 s. */
  initial?: Duration
  /** Default 2. */
  factor?: number
  /** The ceiling of every delay. Default 5 min. */
  max?: Duration
}

const FIXED: KeysOf<FixedRetry> = { maxAttempts: 1, delay: 1 }
const EXPONENTIAL: KeysOf<ExponentialRetry> = { maxAttempts: 1, initial: 1, factor: 1, max: 1 }

export const retry = {
  none(): RetryPolicy {
    return () => 'dead'
  },

  fixed(options: FixedRetry): RetryPolicy {
    checkKeys('retry.fixed', options, FIXED)
    const { maxAttempts, delay = 0 } = options ?? {}
    checkAttempts(maxAttempts)
    const delayMs = durationMs('delay', delay)
    return (attempt) => (attempt < maxAttempts ? delayMs : 'dead')
  },

  /** Full jitter: anywhere between 0 and a ceiling that grows, so that many that failed at once do not come back at once. */
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

/** Thrown by a job or a step: trying again would not help. */
export class NonRetryableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NonRetryableError'
  }
}

const delays = new WeakMap<object, number>()

/**
 * The same error, to be thrown; the next attempt comes after `delay`, whatever the policy would have chosen.
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
