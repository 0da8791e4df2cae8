// Job — the definition of what to do: a name, schemas, a function.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Duration, durationMs } from './duration.ts'
import type { Decision } from './effect.ts'
import { DurablyError } from './errors.ts'
import { checkKeys, type KeysOf, nearest } from './known-keys.ts'
import type { LogLevel } from './log.ts'
import { checkName } from './name.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Signals } from './signal.ts'
import type { ReturnsStorable } from './storable.ts'
import type { Transaction } from './transaction.ts'

export interface JobContext {
  readonly runId: string
  /** Aborts on cancel, lease loss and shutdown; `reason` is a DurablyError that says which. */
  readonly signal: AbortSignal
  /**
   * Runs `fn` once and records what it returns; when the run is resumed or retried, the recorded value is returned instead.
   *
   * @example const users = await ctx.run('fetch-users', () => api.fetchUsers())
   */
  run<T>(name: string, fn: ReturnsStorable<T> & StepFunction<T>): Promise<T>
  run<T>(name: string, options: StepOptions, fn: ReturnsStorable<T> & StepFunction<T>): Promise<T>
  /**
   * Goes on after this time, without holding a slot and whatever happens to the process meanwhile.
   *
   * @example await ctx.sleep('cool down', '1h')
   */
  sleep(name: string, duration: Duration): Promise<void>
  sleepUntil(name: string, time: Date | number): Promise<void>
  /**
   * The value that somebody sends with `durably.signal(runId, name, value)`, before or after this is called. The run waits
   * without a slot, and rejects with the code `wait_timeout` when the time is over. Where the job declares its `signals`, their
   * schemas count.
   *
   * @example const { ok } = await ctx.waitFor('approval', { schema: z.object({ ok: z.boolean() }), timeout: '7d' })
   */
  waitFor<TSchema extends StandardSchemaV1>(
    name: string,
    options: Omit<WaitForOptions, 'schema'> & { schema: TSchema },
  ): Promise<StandardSchemaV1.InferOutput<TSchema>>
  waitFor(name: string, options?: WaitForOptions): Promise<unknown>
  /**
   * Triggers a run of another job, once, also when this run is resumed. Cancelling this run cancels it.
   *
   * @example const { id } = await ctx.trigger(sendMail, { to })
   */
  trigger<TInput>(job: Triggers<TInput, unknown>, input: TInput, options?: ChildRunOptions): Promise<{ id: string }>
  /** Triggers a run of another job and waits for its output without a slot; rejects when it failed or was cancelled. */
  invoke<TInput, TOutput>(job: Triggers<TInput, TOutput>, input: TInput, options?: ChildRunOptions): Promise<TOutput>
  /** 1 for the first execution; one more for each that failed. */
  readonly attempt: number
  /**
   * A step whose output can be followed while it comes: `subscribe()` gets every chunk, at once and after a crash. An attempt
   * that did not finish is taken back, down to its last checkpoint, before the next one begins.
   *
   * @example const answer = await ctx.stream('answer', async (emit) => { for await (const text of model()) await emit(text) })
   */
  stream<T, TState = unknown>(name: string, fn: ReturnsStorable<T> & StreamFunction<T, TState>): Promise<T>
  /**
   * A step whose rows are its record: what `fn` writes through `trx` and the step commit in one transaction of this database,
   * exactly once. Keep it short: default limit 5 s; no other `ctx` calls inside.
   *
   * @example await ctx.transaction('book', (trx) => trx.insertInto('bookings').values(booking).execute())
   */
  transaction<T>(name: string, fn: ReturnsStorable<T> & ((trx: Transaction) => Promise<T>)): Promise<T>
  transaction<T>(name: string, options: TransactionOptions, fn: ReturnsStorable<T> & ((trx: Transaction) => Promise<T>)): Promise<T>
  /**
   * Reports how far the run is; kept when the run is resumed. A total or message that is left out stays as it was. It may be called often:
   * of all calls within 100 ms, the last one is stored and emitted.
   */
  progress(current: number, total?: number, message?: string): void
  readonly log: Logger
}

/** The context of a job that declares its signals: it waits for no others. */
export interface DeclaredJobContext<TSignals extends Signals> extends Omit<JobContext, 'waitFor'> {
  waitFor<TName extends keyof TSignals & string>(
    name: TName,
    options?: Omit<WaitForOptions, 'schema'>,
  ): Promise<StandardSchemaV1.InferOutput<TSignals[TName]>>
  /** No call matches it. It is what lets a function that takes a `JobContext` take this one. */
  waitFor(name: never, options?: never): Promise<never>
}

export type JobContextOf<TSignals extends Signals> = string extends keyof TSignals ? JobContext : DeclaredJobContext<TSignals>

export type StepFunction<T> = (step: StepContext) => T | Promise<T>

export type StreamFunction<T, TState> = (emit: Emit, checkpoint: Checkpoint<TState>, step: StepContext) => T | Promise<T>

/** Adds to the output; texts are joined. Resolves at once, or, when the store is slower than the source, once it has caught up. */
export type Emit = (chunk: unknown) => Promise<void>

export interface Checkpoint<TState> {
  /** Records what was put out so far, and a state from which the next attempt can go on. */
  (state: TState): Promise<void>
  /** Of the last checkpoint that an earlier attempt made. */
  readonly state: TState | undefined
}

export interface TransactionOptions {
  /** How long it may take; then it is undone and fails with the code `transaction_timeout`. Default 5 s, at most a third of the lease. */
  timeout?: Duration
}

/** As much of a job handle as is needed to run it as a child. */
export interface Triggers<TInput, TOutput> {
  readonly name: string
  trigger(input: TInput, options?: { concurrencyKey?: string }): Promise<{ id: string; output: TOutput | null }>
}

export interface ChildRunOptions {
  /** The name of the step. Default: made of the job's name, and counted when it is called again. */
  name?: string
  concurrencyKey?: string
}

export interface WaitForOptions {
  /** What the value must look like; one that does not fails the step. */
  schema?: StandardSchemaV1
  /** Default: for ever. */
  timeout?: Duration
}

export interface StepOptions {
  /** When the function throws: whether and when it is tried again. The run waits in the queue meanwhile. Default: not. */
  retry?: RetryPolicy
  /** How long one try may take; then its signal aborts and it fails with the code `timeout`. */
  timeout?: Duration
  /**
   * `once`: the function must not run twice. Its start is recorded before it is called; when its worker is lost in between,
   * `reconcile` is asked whether it took place, or, without one, the run waits for `durably.decide()`.
   */
  effect?: 'once'
  /** Looks whether the effect took place; `{ done: result }` if it did, `'run again'` if not. */
  reconcile?: (step: StepContext) => Decision | Promise<Decision>
}

export interface StepContext {
  readonly signal: AbortSignal
  /** 1 for the first try of this step; one more for each that failed. */
  readonly attempt: number
  /** The same for every try of this step: for APIs that recognize a request sent twice. */
  readonly idempotencyKey: string
  /** Attributes its lines to this step, also when steps run in parallel. */
  readonly log: Logger
}

export type Logger = Record<LogLevel, (message: string, data?: unknown) => void>

export interface JobDefinition<
  TName extends string,
  TInput extends StandardSchemaV1,
  TOutput extends StandardSchemaV1 | undefined,
  TSignals extends Signals = Signals,
> {
  name: TName
  input: TInput
  /** Without it the job's return value is stored as it is. */
  output?: TOutput
  /** When the job throws or runs out of time: whether and when it is tried again. Completed steps stay. Default: not. */
  retry?: RetryPolicy
  /** How long one execution may take; then `ctx.signal` aborts, and it fails with reason `timeout`. */
  timeout?: Duration
  /** The signals that it waits for, and their schemas: then no other can be sent to its runs, and no other value. Default: any. */
  signals?: TSignals
}

export interface Job {
  name: string
  input: StandardSchemaV1
  output: StandardSchemaV1 | undefined
  retry?: RetryPolicy
  timeout?: Duration
  signals?: Signals
  run(ctx: JobContext, payload: unknown): unknown
}

const JOB_OPTIONS: KeysOf<Job & JobDefinition<string, StandardSchemaV1, undefined>> = {
  name: 1,
  input: 1,
  output: 1,
  retry: 1,
  timeout: 1,
  signals: 1,
  run: 1,
}

/** For callers without types: a mistake throws where the job is defined, not when it is first triggered. */
export function checkJob(job: Job): void {
  const { name, input, output, run, retry, timeout, signals } = job
  checkName('job name', name)
  checkKeys(`job ${JSON.stringify(name)}`, job, JOB_OPTIONS)
  if (!isSchema(input)) throw invalid(name, 'input', A_SCHEMA)
  if (output !== undefined && !isSchema(output)) throw invalid(name, 'output', `${A_SCHEMA}, or nothing`)
  if (retry !== undefined && typeof retry !== 'function') throw invalid(name, 'retry', 'a policy such as retry.exponential(), or nothing')
  if (timeout !== undefined) durationMs(`timeout of job ${JSON.stringify(name)}`, timeout)
  for (const [signal, schema] of Object.entries(signals ?? {}))
    if (!isSchema(schema)) throw invalid(name, `signal ${JSON.stringify(signal)}`, A_SCHEMA)
  if (typeof run !== 'function') throw invalid(name, 'second argument', 'the function to run')
}

const A_SCHEMA = 'a Standard Schema such as z.object({ … })'

function isSchema(value: unknown): boolean {
  const standard: unknown = value && Reflect.get(Object(value), '~standard')
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}

function invalid(name: string, what: string, shouldBe: string): DurablyError {
  return new DurablyError('invalid_argument', `job ${JSON.stringify(name)}: its ${what} must be ${shouldBe}`)
}

/** The schema of a signal; undefined where the job declares none. One that the job does not declare is refused. */
export function signalSchema({ name: job, signals }: Job, name: string): StandardSchemaV1 | undefined {
  if (signals === undefined) return undefined
  if (!Object.hasOwn(signals, name))
    throw new DurablyError('invalid_name', `job ${JSON.stringify(job)} declares no signal ${nearest(name, Object.keys(signals))}`)
  return signals[name]
}

type Invalid = 'invalid_input' | 'output_invalid'

/** The value a schema makes of `value`, or its promise; issues become one error that names every path. */
export function validate(schema: StandardSchemaV1, value: unknown, code: Invalid, what: () => string): unknown {
  const result = schema['~standard'].validate(value)
  return 'then' in result ? result.then((result) => accepted(result, code, what)) : accepted(result, code, what)
}

function accepted(result: StandardSchemaV1.Result<unknown>, code: Invalid, what: () => string): unknown {
  if (!result.issues) return result.value
  const details = result.issues.map((issue) => `${pathOf(issue)}${issue.message}`).join('; ')
  throw new DurablyError(code, `${what()}: ${details}`, { cause: result.issues })
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  return path && `${path}: `
}
