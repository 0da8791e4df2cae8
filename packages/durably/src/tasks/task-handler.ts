// TaskHandler — the code for one type of task. The queue stores data only; the handler is found by `taskType`.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from '../model/duration.ts'
import { DurablyError } from '../model/errors.ts'
import { type Job, type JobContext, validate } from '../model/job.ts'
import { checkName } from '../model/name.ts'

/**
 * The code for one type of task, for `register`.
 *
 * @example queue.register({ taskType: 'send-email', input: z.object({ to: z.string() }), execute: ({ to }) => mail(to) })
 */
export interface TaskHandler<TPayload = unknown, TInput = TPayload> {
  /** The type of the tasks that it executes. */
  readonly taskType: string
  /**
   * The schema of the payload, any Standard Schema. A payload that does not match is an error like any other: the task is retried. Default:
   * anything is accepted.
   */
  readonly input?: StandardSchemaV1<TInput, TPayload> | undefined
  /** How long one execution may take. Then `signal` aborts, and the execution has failed. Default: no limit. */
  readonly timeout?: Duration | undefined
  /** Does the work. If it throws or rejects, the task is retried. What it returns is not stored. */
  execute(payload: TPayload, context: TaskContext): unknown
}

/** What `execute` gets as its second argument. */
export interface TaskContext {
  /** The id of the task. */
  readonly taskId: string
  /** 1 for the first execution, and one more after each that failed. */
  readonly attempt: number
  /**
   * Aborts when the execution must stop: the task was cancelled, its time is over, the queue shuts down, or another process has taken the
   * task over.
   */
  readonly signal: AbortSignal
}

/** The signal is made at first use: it costs more than a small task, and few tasks use it. */
export class RunningTask implements TaskContext {
  readonly taskId: string
  readonly attempt: number
  readonly #ctx: JobContext

  constructor(ctx: JobContext) {
    this.taskId = ctx.runId
    this.attempt = ctx.attempt
    this.#ctx = ctx
  }

  get signal(): AbortSignal {
    return this.#ctx.signal
  }
}

export function checkHandler(handler: unknown): void {
  if (typeof handler === 'object' && handler !== null && typeof Reflect.get(handler, 'execute') === 'function') return
  throw new DurablyError('invalid_argument', 'a task handler is an object with a taskType and an execute(payload, context) function')
}

/** What the handler returns is not stored. */
export function executeTask<TPayload, TInput>(
  handler: TaskHandler<TPayload, TInput>,
  payload: unknown,
  context: TaskContext,
): Promise<void> {
  const { input, taskType } = handler
  const execute = (read: unknown) => Promise.resolve(handler.execute(read as TPayload, context)).then(nothing)
  if (!input) return execute(payload)
  return Promise.resolve(validate(input, payload, 'invalid_input', () => `payload of task ${JSON.stringify(taskType)}`)).then(execute)
}

function nothing(): void {}

/** The part of a job that is needed to enqueue a task. */
export function taskJob(taskType: string): Job {
  return { name: checkName('taskType', taskType), input: ANY_PAYLOAD, output: undefined, run: () => {} }
}

/** The queue accepts any payload: the process that enqueues need not know the handler. */
export const ANY_PAYLOAD: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'durably', validate: (value) => ({ value }) },
}
