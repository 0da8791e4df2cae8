// The queues in memory that are measured, each behind the same two verbs. The others keep no record of a task: once it has
// run, nothing can be asked about it. Ours keeps ids, states, attempts and counts.
import { loadPeer } from '../speed/peers.ts'
import { CountedQueue } from './counted-queue.ts'

export type Task = (i: number) => Promise<void>

export interface MemoryQueue {
  readonly name: string
  /** Executes task 0 to `count - 1`, `concurrency` at once; none of them fails. */
  run(count: number, concurrency: number, task: Task): Promise<void>
  /** The same; a task that failed goes back to the end of the queue at once. */
  runWithRetry(count: number, concurrency: number, task: Task): Promise<void>
}

export const OURS = 'durably/tasks'

async function drain(count: number, concurrency: number, task: Task): Promise<void> {
  const queue = new CountedQueue(concurrency, task)
  await queue.execute(count)
  await queue.check()
}

type PQueue = new (options: { concurrency: number }) => { add(task: () => Promise<void>): Promise<void>; onIdle(): Promise<void> }

interface Fastq {
  promise(task: Task, concurrency: number): { push(i: number): Promise<void>; drained(): Promise<void> }
}

interface Async {
  queue(
    task: Task,
    concurrency: number,
  ): { push(i: number, done: () => void): void; pushAsync(i: number): Promise<void>; drain(): Promise<void> }
}

export async function memoryQueues(): Promise<readonly MemoryQueue[]> {
  const { default: PQueue } = await loadPeer<{ default: PQueue }>('p-queue')
  const { default: fastq } = await loadPeer<{ default: Fastq }>('fastq')
  const { default: async } = await loadPeer<{ default: Async }>('async')
  return [
    { name: OURS, run: drain, runWithRetry: drain },
    {
      name: 'p-queue',
      async run(count, concurrency, task) {
        const queue = new PQueue({ concurrency })
        for (let i = 0; i < count; i++) void queue.add(() => task(i))
        await queue.onIdle()
      },
      async runWithRetry(count, concurrency, task) {
        const queue = new PQueue({ concurrency })
        const all: Promise<void>[] = []
        for (let i = 0; i < count; i++) {
          const attempt = () => task(i)
          all.push(queue.add(attempt).catch(() => queue.add(attempt)))
        }
        await Promise.all(all)
      },
    },
    {
      name: 'fastq (promises)',
      async run(count, concurrency, task) {
        const queue = fastq.promise(task, concurrency)
        for (let i = 0; i < count; i++) void queue.push(i)
        await queue.drained()
      },
      async runWithRetry(count, concurrency, task) {
        const queue = fastq.promise(task, concurrency)
        const all: Promise<void>[] = []
        for (let i = 0; i < count; i++) all.push(queue.push(i).catch(() => queue.push(i)))
        await Promise.all(all)
      },
    },
    {
      name: 'async.queue',
      async run(count, concurrency, task) {
        const queue = async.queue(async (i: number) => task(i), concurrency)
        for (let i = 0; i < count; i++) queue.push(i, () => {})
        await queue.drain()
      },
      async runWithRetry(count, concurrency, task) {
        const queue = async.queue(async (i: number) => task(i), concurrency)
        const all: Promise<void>[] = []
        for (let i = 0; i < count; i++) all.push(queue.pushAsync(i).catch(() => queue.pushAsync(i)))
        await Promise.all(all)
      },
    },
  ]
}
