// One page of tasks. The store finds runs by status; which of the pending ones wait for a retry is seen page by page.
import type { RunFilter } from '../client/run-reader.ts'
import { DurablyError } from '../model/errors.ts'
import type { Run } from '../model/run.ts'
import type { Page, PageRequest } from './queue.ts'
import type { TaskRecord } from './task-record.ts'
import { STATUS_OF, TASK_STATES } from './task-state.ts'

const LIMIT = 100

export async function readPage(
  getRuns: (filter: RunFilter) => Promise<Run[]>,
  record: (run: Run) => TaskRecord,
  { state, taskType, limit = LIMIT, cursor }: PageRequest,
): Promise<Page> {
  if (state !== undefined && !TASK_STATES.includes(state))
    throw new DurablyError('invalid_argument', `state must be one of ${TASK_STATES.join(', ')}, got ${JSON.stringify(state)}`)
  const filter = { limit, ...(state && { status: STATUS_OF[state] }), ...(taskType !== undefined && { jobName: taskType }) }
  const tasks: TaskRecord[] = []
  for (let after = cursor ?? null; ; ) {
    const runs = await getRuns({ ...filter, ...(after !== null && { cursor: after }) })
    for (const run of runs) {
      const task = record(run)
      if (state !== undefined && task.state !== state) continue
      tasks.push(task)
      if (tasks.length === limit) return { tasks, cursor: run.id }
    }
    after = runs.at(-1)?.id ?? null
    if (runs.length < limit) return { tasks, cursor: null }
  }
}
