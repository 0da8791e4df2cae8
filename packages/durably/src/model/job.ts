// Job — the definition of what to do: a name, schemas, a function.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { DurablyError } from './errors.ts'
import type { LogLevel } from './log.ts'

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
  /** Tells how far the run is; kept when the run is resumed. */
  progress(current: number, total?: number, message?: string): void
  readonly log: Logger
}

export type StepFunction<T> = (step: StepContext) => T | Promise<T>

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
