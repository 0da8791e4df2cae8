// TaskHandler — the behaviour for one type of task. The queue holds data; this is found by `taskType` when it is executed.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from '../model/duration.ts'
import { DurablyError } from '../model/errors.ts'
import { type Job, type JobContext, validate } from '../model/job.ts'
import { checkName } from '../model/name.ts'

/**
 * @example queue.register({ taskType: 'send-email', input: z.object({ to: z.string() }), execute: ({ to }) => mail(to) })
 */
export interface TaskHandler<TPayload = unknown, TInput = TPayload> {
  readonly taskType: string
  /** What the payload must look like, any Standard Schema. One that does not is an error like any other: it is tried again. */
  readonly input?: StandardSchemaV1<TInput, TPayload> | undefined
  /** How long one execution may take; then `signal` aborts, and it has failed. Default: as long as it likes. */
  readonly timeout?: Duration | undefined
  /** Throws, or rejects, to be tried again. What it returns is not kept. */
  execute(payload: TPayload, context: TaskContext): unknown
}

export interface TaskContext {
  readonly taskId: string
  /** 1 for the first execution; one more for each that failed. */
  readonly attempt: number
  /** Aborts on cancel, timeout, shutdown and when another process has taken the task over. */
  readonly signal: AbortSignal
}

/** The signal is made when it is asked for: it costs more than a small task, and few ask. */
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

export async function executeTask<TPayload, TInput>(
  handler: TaskHandler<TPayload, TInput>,
  payload: unknown,
  context: TaskContext,
): Promise<void> {
  const { input, taskType } = handler
  const read = input ? await validate(input, payload, 'invalid_input', () => `payload of task ${JSON.stringify(taskType)}`) : payload
  await handler.execute(read as TPayload, context)
}

/** As much of the job as it takes to enqueue a task. */
export function taskJob(taskType: string): Job {
  return { name: checkName('taskType', taskType), input: ANY_PAYLOAD, output: undefined, run: () => {} }
}

/** The queue takes what it is given: who enqueues need not know the handler. */
export const ANY_PAYLOAD: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'durably', validate: (value) => ({ value }) },
}
