// Queues in memory: our task queue, and those that keep no record of a task.
import { type MemoryQueue, memoryQueues, OURS } from '../../task-queue/contenders.ts'
import type { Contender } from '../contender.ts'
import { rate } from '../workload.ts'

const WARM_UP = 10_000

function inMemory(title: string, peers: readonly string[], differs: string): Contender {
  return {
    title,
    peers,
    differs,
    async measure(workload) {
      if (workload.kind !== 'tasks') throw new Error(`${title} is a queue in memory only`)
      const { tasks, concurrency } = workload
      const queue = (await memoryQueues()).find(({ name }) => name === title) as MemoryQueue
      const lap = async (count: number) => {
        let executed = 0
        await queue.run(count, concurrency, async () => void executed++)
        if (executed !== count) throw new Error(`${executed} of ${count} tasks were executed`)
      }
      await lap(WARM_UP)
      const began = performance.now()
      await lap(tasks)
      return rate(tasks, performance.now() - began)
    },
  }
}

export const durablyTasks = inMemory(
  OURS,
  [],
  '`createTaskQueue()`: each task has an id, a state, attempts and counts that can be asked for',
)
export const pQueue = inMemory('p-queue', ['p-queue'], 'keeps no record of a task')
export const fastqPromise = inMemory('fastq (promises)', ['fastq'], 'keeps no record of a task')
