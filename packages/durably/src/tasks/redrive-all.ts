import { hasCode } from '../model/errors.ts'
import type { Queue, RedriveOptions } from './queue.ts'
import type { TaskRef } from './task-record.ts'

/** Goes from the newest to the oldest task, so a task that dies again meanwhile is not redriven twice. */
export async function redriveAll(queue: Pick<Queue, 'list' | 'redrive'>, options: RedriveOptions): Promise<number> {
  let redriven = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await queue.list({ ...options, state: 'Dead', cursor: cursor ?? null })
    for (const task of page.tasks) if (await isRedriven(queue, task)) redriven++
    cursor = page.cursor
  }
  return redriven
}

/** False when another caller has redriven or removed the task before. */
async function isRedriven(queue: Pick<Queue, 'redrive'>, task: TaskRef): Promise<boolean> {
  try {
    await queue.redrive(task)
    return true
  } catch (error) {
    if (hasCode(error, 'run_not_found') || hasCode(error, 'run_not_retryable')) return false
    throw error
  }
}
