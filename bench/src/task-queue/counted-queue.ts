// Our queue, and when it is done with what it was given: all executed, recorded, and counted right.
import { retry } from '../../../packages/durably/dist/index.js'
import { createTaskQueue, type RegisteredTask, type TaskQueue } from '../../../packages/durably/dist/tasks/index.js'

/** The default: so many finished tasks are kept, older ones are forgotten. */
export const FINISHED_MAX = 10_000

type Options = NonNullable<Parameters<RegisteredTask<number>['enqueue']>[1]>

export class CountedQueue {
  readonly #queue: TaskQueue
  readonly #task: RegisteredTask<number>
  #enqueued = 0
  #succeeded = 0
  #allSucceeded = () => {}

  constructor(concurrency: number, execute: (i: number) => Promise<void>) {
    this.#queue = createTaskQueue({ concurrency, retry: retry.fixed({ maxAttempts: 2 }), retention: { max: FINISHED_MAX } })
    this.#task = this.#queue.register<number>({
      taskType: 'task',
      execute: async (i) => {
        await execute(i)
        if (++this.#succeeded === this.#enqueued) this.#allSucceeded()
      },
    })
  }

  /** Starts, executes so many more tasks, and stops. */
  async execute(count: number, options?: (i: number) => Options): Promise<void> {
    const allSucceeded = new Promise<void>((resolve) => {
      this.#allSucceeded = resolve
    })
    this.#enqueued += count
    this.#queue.start()
    // Not awaited one by one, as with the others; one that fails ends the process.
    for (let i = 0; i < count; i++) void this.#task.enqueue(i, options?.(i))
    await allSucceeded
    await this.#queue.stop()
  }

  async check(): Promise<void> {
    const { Succeeded, ...others } = await this.#queue.countsByState()
    const kept = Math.min(this.#enqueued, FINISHED_MAX)
    if (Succeeded !== kept || Object.values(others).some((counted) => counted > 0))
      throw new Error(`${kept} succeeded tasks and nothing else must be kept, counted ${JSON.stringify({ Succeeded, ...others })}`)
  }
}
