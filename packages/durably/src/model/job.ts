// Job — the definition of what to do: a name, schemas, a function.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Duration, durationMs } from './duration.ts'
import type { Decision } from './effect.ts'
import { DurablyError } from './errors.ts'
import { checkKeys, type KeysOf, nearest } from './known-keys.ts'
import type { Labels } from './labels.ts'
import type { LogLevel } from './log.ts'
import { checkName } from './name.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Signals } from './signal.ts'
import type { ReturnsStorable } from './storable.ts'
import { type On, subscriptionsOf } from './subscription.ts'
import type { Transaction } from './transaction.ts'

/** What a job function gets as its first argument, usually called `ctx`: it runs steps, waits, and reports. */
export interface JobContext {
  /** The id of the run that is executed. */
  readonly runId: string
  /** The time of the schedule that the run was created for, as ISO-8601 text; null without one. It stays the same when the run is resumed. */
  readonly scheduledFor: string | null
  /**
   * Aborts when this execution must stop, for example because the run was cancelled, its lease was lost, its time is over, or the worker
   * shuts down. `signal.reason` is a DurablyError whose code says which. Pass it to `fetch` and the like.
   */
  readonly signal: AbortSignal
  /**
   * Runs `fn` once and records what it returns. When the run is resumed or retried, `fn` is not called again, and the recorded value is
   * returned. The name must be unique within the run.
   *
   * @example const users = await ctx.run('fetch-users', () => api.fetchUsers())
   */
  run<T>(name: string, fn: ReturnsStorable<T> & StepFunction<T>): Promise<T>
  run<T>(name: string, options: StepOptions, fn: ReturnsStorable<T> & StepFunction<T>): Promise<T>
  /**
   * Continues after this time. The run holds no slot meanwhile, and the sleep survives restarts of the process.
   *
   * @example await ctx.sleep('cool down', '1h')
   */
  sleep(name: string, duration: Duration): Promise<void>
  /** Continues at this time (a `Date`, or milliseconds since 1970); at once if it is past. Otherwise like `sleep`. */
  sleepUntil(name: string, time: Date | number): Promise<void>
  /**
   * Waits for the value that somebody sends with `durably.signal(runId, name, value)`, and returns it; it may have been sent before. The
   * run holds no slot meanwhile. If no signal comes within `timeout`, it rejects with the code `wait_timeout`. If the job declares its
   * `signals`, their schemas check the value.
   *
   * @example const { ok } = await ctx.waitFor('approval', { schema: z.object({ ok: z.boolean() }), timeout: '7d' })
   */
  waitFor<TSchema extends StandardSchemaV1>(
    name: string,
    options: Omit<WaitForOptions, 'schema'> & { schema: TSchema },
  ): Promise<StandardSchemaV1.InferOutput<TSchema>>
  waitFor(name: string, options?: WaitForOptions): Promise<unknown>
  /**
   * Triggers a run of another job as a child of this run, and returns its id without waiting for it. It is triggered once, also when this
   * run is resumed. If this run is cancelled, the child is too.
   *
   * @example const { id } = await ctx.trigger(sendMail, { to })
   */
  trigger<TInput>(job: Triggers<TInput, unknown>, input: TInput, options?: ChildRunOptions): Promise<{ id: string }>
  /**
   * Triggers a run of another job as a child of this run, waits for its end without holding a slot, and returns its output. It rejects if
   * the child failed or was cancelled.
   */
  invoke<TInput, TOutput>(job: Triggers<TInput, TOutput>, input: TInput, options?: ChildRunOptions): Promise<TOutput>
  /** 1 for the first attempt of the job, and one more after each that failed. A lost worker does not count. */
  readonly attempt: number
  /**
   * A step that emits output while it runs: `subscribe()` gets every chunk, also after a crash. If an attempt does not finish, its output
   * is removed back to its last checkpoint before the next attempt begins. With `retry` the step is tried again by itself, and with `timeout`
   * an attempt that takes too long fails.
   *
   * @example const answer = await ctx.stream('answer', async (emit) => { for await (const text of model()) await emit(text) })
   */
  stream<T, TState = unknown>(name: string, fn: ReturnsStorable<T> & StreamFunction<T, TState>): Promise<T>
  stream<T, TState = unknown>(name: string, options: StreamOptions, fn: ReturnsStorable<T> & StreamFunction<T, TState>): Promise<T>
  /**
   * A step that writes rows of your own: what `fn` writes through `trx` and the record of the step are committed in one transaction of this
   * database, so both happen exactly once or not at all. It must be short (5 s by default), and `ctx` cannot be called inside.
   *
   * @example await ctx.transaction('book', (trx) => trx.insertInto('bookings').values(booking).execute())
   */
  transaction<T>(name: string, fn: ReturnsStorable<T> & ((trx: Transaction) => Promise<T>)): Promise<T>
  transaction<T>(name: string, options: TransactionOptions, fn: ReturnsStorable<T> & ((trx: Transaction) => Promise<T>)): Promise<T>
  /**
   * Reports how far the run is, for `run.progress`. A total or message that is left out stays as it was. It may be called often: of all
   * calls within 100 ms, the last one is stored and emitted.
   */
  progress(current: number, total?: number, message?: string): void
  /** Writes log lines: `ctx.log.info('imported', { rows })`. They are emitted as `log:write`, and stored with `withLogPersistence()`. */
  readonly log: Logger
}

/**
 * The `ctx` of a job that declares its `signals`: `waitFor` takes only their names, and returns values of their types. All else is as in
 * `JobContext`.
 */
export interface DeclaredJobContext<TSignals extends Signals> extends Omit<JobContext, 'waitFor'> {
  /** Waits for one of the declared signals and returns its value, checked by its schema; see `JobContext.waitFor`. */
  waitFor<TName extends keyof TSignals & string>(
    name: TName,
    options?: Omit<WaitForOptions, 'schema'>,
  ): Promise<StandardSchemaV1.InferOutput<TSignals[TName]>>
  /** No call matches it. It is what lets a function that takes a `JobContext` take this one. */
  waitFor(name: never, options?: never): Promise<never>
}

/** The `ctx` that fits the signals a job declares. */
export type JobContextOf<TSignals extends Signals> = string extends keyof TSignals ? JobContext : DeclaredJobContext<TSignals>

/** The function of a step: it gets the step's context, and what it returns is recorded. */
export type StepFunction<T> = (step: StepContext) => T | Promise<T>

/**
 * The function of a `ctx.stream` step: it calls `emit` for each piece of output, may call `checkpoint`, and what it returns is recorded.
 */
export type StreamFunction<T, TState> = (emit: Emit, checkpoint: Checkpoint<TState>, step: StepContext) => T | Promise<T>

/**
 * Adds a chunk to the output of the stream; adjacent texts are joined. The promise resolves at once, or, if the store is slower than the
 * source, when the store has caught up: await it.
 */
export type Emit = (chunk: unknown) => Promise<void>

/** The second argument of a `ctx.stream` function: call it to record where the next attempt can continue. */
export interface Checkpoint<TState> {
  /** Records the output so far, and a state from which the next attempt can continue. */
  (state: TState): Promise<void>
  /** The state of the last checkpoint that an earlier attempt made; undefined if there is none. */
  readonly state: TState | undefined
}

/** The options of `ctx.transaction`. */
export interface TransactionOptions {
  /**
   * How long the transaction may take. Then it is rolled back, and the step fails with the code `transaction_timeout`. Default 5 s, and
   * never more than a third of the lease.
   */
  timeout?: Duration
}

/** The part of a job handle that is needed to run the job as a child. */
export interface Triggers<TInput, TOutput> {
  /** The name of the job. */
  readonly name: string
  /** Triggers a run of the job. */
  trigger(input: TInput, options?: { concurrencyKey?: string }): Promise<{ id: string; output: TOutput | null }>
}

/** The options of `ctx.trigger` and `ctx.invoke`. */
export interface ChildRunOptions {
  /** The name of the step. Default: made of the job's name, with a number if the same job is triggered again. */
  name?: string
  /** Of all runs with the same key, at most one executes at a time; the others wait. Default none. */
  concurrencyKey?: string
  /** In addition to those of this run; where both have a name, the value is this one. */
  labels?: Labels
}

/** The options of `ctx.waitFor`. */
export interface WaitForOptions {
  /** What the value must look like, any Standard Schema. A value that does not match fails the step. */
  schema?: StandardSchemaV1
  /** How long to wait; then it rejects with the code `wait_timeout`. Default: for ever. */
  timeout?: Duration
}

/** The options of a step, the second argument of `ctx.run(name, options, fn)`. */
export interface StepOptions {
  /**
   * Whether and when the step is tried again after its function threw, for example `retry.exponential()`. The run holds no slot meanwhile.
   * Default: it is not tried again.
   */
  retry?: RetryPolicy
  /** How long one attempt may take. Then its signal aborts, and it fails with the code `timeout`. Default: no limit. */
  timeout?: Duration
  /**
   * `'once'`: the function must not run twice. Its start is recorded before it is called. If its worker is lost before the result is
   * recorded, `reconcile` is asked whether the effect took place; without `reconcile`, the run waits for `durably.decide()`.
   */
  effect?: 'once'
  /**
   * Only with `effect: 'once'`. Finds out whether the effect took place, and returns `{ done: result }` if it did, `'run again'` if it did
   * not, or `{ failed: message }`.
   */
  reconcile?: (step: StepContext) => Decision | Promise<Decision>
}

/** The options of a stream, the second argument of `ctx.stream(name, options, fn)`. */
export type StreamOptions = Pick<StepOptions, 'retry' | 'timeout'>

/** What the function of a step gets as its argument. */
export interface StepContext {
  /** Aborts when the step must stop: whenever `ctx.signal` aborts, and when the step's own `timeout` is over. */
  readonly signal: AbortSignal
  /** 1 for the first attempt of this step, and one more after each that failed. */
  readonly attempt: number
  /** The same text for every attempt of this step, and no other step has it: send it to APIs that recognize a repeated request. */
  readonly idempotencyKey: string
  /** Writes log lines that carry the name of this step, also when steps run in parallel. */
  readonly log: Logger
}

/** Writes log lines at the levels `info`, `warn` and `error`, each with a message and optional data that can be stored. */
export type Logger = Record<LogLevel, (message: string, data?: unknown) => void>

/** The first argument of `defineJob`. */
export interface JobDefinition<
  TName extends string,
  TInput extends StandardSchemaV1,
  TOutput extends StandardSchemaV1 | undefined,
  TSignals extends Signals = Signals,
> {
  /** The name of the job, by which runs find their code again: at most 512 bytes. Do not change it while there are unfinished runs. */
  name: TName
  /**
   * The schema of the input, any Standard Schema such as `z.object({ … })`. What does not match is refused when a run is triggered, with
   * the code `invalid_input`.
   */
  input: TInput
  /**
   * The schema of the output. If the job returns something else, the run fails with reason `output_invalid`. Without it, the return value
   * is stored as it is.
   */
  output?: TOutput
  /**
   * Whether and when the job is tried again after it threw or ran out of time. Recorded steps do not run again. Default: it is not tried
   * again.
   */
  retry?: RetryPolicy
  /** How long one execution may take. Then `ctx.signal` aborts, and the attempt fails with reason `timeout`. Default: no limit. */
  timeout?: Duration
  /**
   * The signals that the job waits for, with their schemas. Then only these names and matching values can be sent to its runs. Default:
   * any.
   */
  signals?: TSignals
  /** The labels that a worker must have to execute it, such as `{ gpu: 'yes' }`; see `cluster()`. Default: any worker. */
  runsOn?: Labels
  /**
   * The events that the job subscribes to: a name, or `{ event, filter }`, or a list of them. Each event that is sent under the name
   * (`durably.send`) and matches becomes a run whose input is the data of the event. An empty list ends all subscriptions. Default: none.
   */
  on?: On
}

export interface Job {
  name: string
  input: StandardSchemaV1
  output: StandardSchemaV1 | undefined
  retry?: RetryPolicy
  timeout?: Duration
  signals?: Signals
  runsOn?: Labels
  on?: On
  /** The code of the job is in other processes: the worker checks the input. */
  isForeign?: boolean
  run(ctx: JobContext, payload: unknown): unknown
}

const JOB_OPTIONS: KeysOf<Omit<Job, 'isForeign'> & JobDefinition<string, StandardSchemaV1, undefined>> = {
  name: 1,
  input: 1,
  output: 1,
  retry: 1,
  timeout: 1,
  signals: 1,
  runsOn: 1,
  on: 1,
  run: 1,
}

/** For callers without types: a mistake throws where the job is defined, not when it is first triggered. */
export function checkJob(job: Job): void {
  const { name, input, output, run, retry, timeout, signals, on } = job
  checkName('job name', name)
  checkKeys(`job ${JSON.stringify(name)}`, job, JOB_OPTIONS)
  if (!isSchema(input)) throw invalid(name, 'input', A_SCHEMA)
  if (output !== undefined && !isSchema(output)) throw invalid(name, 'output', `${A_SCHEMA}, or nothing`)
  if (retry !== undefined && typeof retry !== 'function') throw invalid(name, 'retry', 'a policy such as retry.exponential(), or nothing')
  if (timeout !== undefined) durationMs(`timeout of job ${JSON.stringify(name)}`, timeout)
  for (const [signal, schema] of Object.entries(signals ?? {}))
    if (!isSchema(schema)) throw invalid(name, `signal ${JSON.stringify(signal)}`, A_SCHEMA)
  if (on !== undefined) subscriptionsOf(`on of job ${JSON.stringify(name)}`, on)
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
