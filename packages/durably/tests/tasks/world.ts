// Where the queue's tests play: the same chapter in the queue's own memory and on a real SQLite file, in virtual time.
import { onTestFinished } from 'vitest'
import { sqlite } from '../../src/sqlite/index.ts'
import { createTaskQueue, type TaskLogLine, type TaskQueue, type TaskQueueOptions, type TaskStateChange } from '../../src/tasks/index.ts'
import { type VirtualEnv, virtualEnv } from '../../src/testing/virtual-env.ts'
import { temporaryFile } from '../sql/place.ts'

export const WORLDS = ['memory', 'sqlite'] as const
export type WorldName = (typeof WORLDS)[number]

export interface World {
  env: VirtualEnv
  queue: TaskQueue
  changes: TaskStateChange[]
  lines: TaskLogLine[]
  errors: unknown[]
  /** Another queue on the same database; of a SQLite world. */
  another(options?: TaskQueueOptions): TaskQueue
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>
  /** The answer of `promise`, which may take turns of the event loop, but no time. */
  soon<T>(promise: Promise<T>): Promise<T>
}

const TURNS = 200

/** The polling interval is an hour: who is not woken is not seen. */
export async function setup(name: WorldName, options: TaskQueueOptions = {}): Promise<World> {
  const env = virtualEnv()
  const lines: TaskLogLine[] = []
  const file = name === 'sqlite' ? temporaryFile() : null
  const settle = async () => {
    for (let turn = 0; turn < TURNS; turn++) await env.idle()
  }
  const another = (more: TaskQueueOptions = {}) => {
    const place = file === null ? {} : { dialect: sqlite(file, { durability: 'relaxed' as const, busyTimeoutMs: 1 }) }
    const queue = createTaskQueue({ env, pollingInterval: 3_600_000, logger: (line) => lines.push(line), ...place, ...more })
    onTestFinished(async () => {
      const stopped = queue.stop({ timeout: 0 })
      await settle()
      await env.advance(1000)
      await stopped
      if (file !== null) await queue[Symbol.asyncDispose]().catch(() => {})
    })
    return queue
  }
  const queue = another(options)
  const changes: TaskStateChange[] = []
  const errors: unknown[] = []
  queue.on('stateChange', (change) => changes.push(change))
  queue.on('error', ({ error }) => errors.push(error))
  await queue.migrate()
  return { env, queue, changes, lines, errors, another, settle, soon: (promise) => soon(env, promise) }
}

async function soon<T>(env: VirtualEnv, promise: Promise<T>): Promise<T> {
  let isSettled = false
  const mark = () => {
    isSettled = true
  }
  promise.then(mark, mark)
  for (let turn = 0; !isSettled && turn < 100 * TURNS; turn++) await env.idle()
  if (!isSettled) throw new Error('it waits for time to pass')
  return promise
}
