// Job — the definition of what to do: a name, schemas, a function.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { DurablyError } from './errors.ts'
import type { LogLevel } from './log.ts'
import { checkName } from './name.ts'

export interface JobContext {
  readonly runId: string
  /** Aborts on cancel, lease loss and shutdown; `reason` is a DurablyError that says which. */
  readonly signal: AbortSignal
  /**
   * Runs `fn` once and records what it returns; when the run is resumed or retried, the recorded value is returned instead.
   *
   * @example const users = await ctx.run('fetch-users', () => api.fetchUsers())
   */
  run<T>(name: string, fn: StepFunction<T>): Promise<T>
  /**
   * A step whose output can be followed while it comes: `subscribe()` gets every chunk, at once and after a crash. An attempt
   * that did not finish is taken back, down to its last checkpoint, before the next one begins.
   *
   * @example const answer = await ctx.stream('answer', async (emit) => { for await (const text of model()) await emit(text) })
   */
  stream<T, TState = unknown>(name: string, fn: StreamFunction<T, TState>): Promise<T>
  /** Tells how far the run is; kept when the run is resumed. */
  progress(current: number, total?: number, message?: string): void
  readonly log: Logger
}

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

export interface StepContext {
  readonly signal: AbortSignal
  /** Attributes its lines to this step, also when steps run in parallel. */
  readonly log: Logger
}

export type Logger = Record<LogLevel, (message: string, data?: unknown) => void>

export interface JobDefinition<TName extends string, TInput extends StandardSchemaV1, TOutput extends StandardSchemaV1 | undefined> {
  name: TName
  input: TInput
  /** Without it the job's return value is stored as it is. */
  output?: TOutput
}

export interface Job {
  name: string
  input: StandardSchemaV1
  output: StandardSchemaV1 | undefined
  run(ctx: JobContext, payload: unknown): unknown
}

/** A caller without types hears of a mistake when it defines the job, not when it first triggers it. */
export function checkJob({ name, input, output, run }: Job): void {
  checkName('job name', name)
  if (!isSchema(input)) throw invalid(name, 'input', 'a Standard Schema such as z.object({ … })')
  if (output !== undefined && !isSchema(output)) throw invalid(name, 'output', 'a Standard Schema such as z.object({ … }), or nothing')
  if (typeof run !== 'function') throw invalid(name, 'second argument', 'the function to run')
}

function isSchema(value: unknown): boolean {
  const standard: unknown = value && Reflect.get(Object(value), '~standard')
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}

function invalid(name: string, what: string, shouldBe: string): DurablyError {
  return new DurablyError('invalid_argument', `job ${JSON.stringify(name)}: its ${what} must be ${shouldBe}`)
}

/** The value a schema makes of `value`; issues become one error that names every path. */
export async function validate(
  schema: StandardSchemaV1,
  value: unknown,
  code: 'invalid_input' | 'output_invalid',
  what: string,
): Promise<unknown> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  const details = result.issues.map((issue) => `${pathOf(issue)}${issue.message}`).join('; ')
  throw new DurablyError(code, `${what}: ${details}`, { cause: result.issues })
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  return path && `${path}: `
}
