// Reads one page of tasks. The store filters runs by status; pending runs that wait for a retry are filtered here. If the first read does not fill the page,
// many runs of the other state may follow, so the next ones are not small, however small the page is.
import { DurablyError } from '../model/errors.ts'
import type { RunRow } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import type { Page, PageRequest } from './queue.ts'
import type { TaskRecord } from './task-record.ts'
import { STATUS_OF, TASK_STATES } from './task-state.ts'

const LIMIT = 100

export async function readPage(
  getRows: (filter: RunFilter) => Promise<RunRow[]>,
  record: (row: RunRow) => TaskRecord,
  { state, taskType, labels, limit = LIMIT, cursor }: PageRequest,
): Promise<Page> {
  if (state !== undefined && !TASK_STATES.includes(state))
    throw new DurablyError('invalid_argument', `state must be one of ${TASK_STATES.join(', ')}, got ${JSON.stringify(state)}`)
  const filter = {
    ...(state && { status: STATUS_OF[state] }),
    ...(taskType !== undefined && { jobName: taskType }),
    ...(labels !== undefined && { labels }),
  }
  const tasks: TaskRecord[] = []
  for (let after = cursor ?? null, wanted = limit; ; wanted = Math.max(limit, LIMIT)) {
    const rows = await getRows({ ...filter, limit: wanted, ...(after !== null && { cursor: after }) })
    for (const row of rows) {
      const task = record(row)
      if (state !== undefined && task.state !== state) continue
      tasks.push(task)
      if (tasks.length === limit) return { tasks, cursor: row.id }
    }
    after = rows.at(-1)?.id ?? null
    if (rows.length < wanted) return { tasks, cursor: null }
  }
}
