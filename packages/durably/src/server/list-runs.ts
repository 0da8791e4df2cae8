// GET /runs: the newest runs that the caller may read, page by page.

import { DurablyError } from '../model/errors.ts'
import { checkName } from '../model/name.ts'
import { RUN_STATUSES, type Run, type RunStatus } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import { isAllowed } from './authorize.ts'
import type { Call } from './call.ts'
import { jsonResponse } from './json-response.ts'
import { queryParameter } from './query.ts'
import { shownTo } from './shown-run.ts'
import { ofAll } from './visible-run.ts'

const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 200
/** A caller who may read few of very many runs gets short pages, and continues with their cursors. */
const READS_MAX = 20

export interface PageFilter extends Pick<RunFilter, 'status' | 'jobName'> {
  limit: number
}

interface Page {
  runs: Run[]
  /** `null` at the end of the list. */
  nextCursor: string | null
}

export const listRuns = ofAll('runs:list', async (call) => {
  const { server, request, query } = call
  const mayRead = (run: Run) => isAllowed(server.config.authorize, request, 'runs:read', run)
  const { runs, nextCursor } = await readablePage(
    (filter) => server.durably.getRuns(filter),
    mayRead,
    pageFilter(query),
    queryParameter(query, 'cursor'),
  )
  const shown = await shownTo(call)
  return jsonResponse(200, { runs: runs.map((run) => shown.run(run)), nextCursor })
})

export function pageFilter(query: Call['query']): PageFilter {
  const [status, job, limit] = ['status', 'job', 'limit'].map((name) => queryParameter(query, name))
  return {
    ...(status && { status: readStatus(status) }),
    ...(job && { jobName: checkName('job', job) }),
    limit: limit ? readLimit(limit) : LIMIT_DEFAULT,
  }
}

/** Runs that the caller may not read are left out, and the page is filled up with the next ones. */
async function readablePage(
  getRuns: (filter: RunFilter) => Promise<Run[]>,
  mayRead: (run: Run) => Promise<boolean>,
  { limit, ...filter }: PageFilter,
  after: string | null,
): Promise<Page> {
  const runs: Run[] = []
  let cursor = after
  for (let reads = 0; reads < READS_MAX; reads++) {
    const found = await getRuns({ ...filter, limit, ...(cursor !== null && { cursor }) })
    for (const run of found) {
      cursor = run.id
      if (await mayRead(run)) runs.push(run)
      if (runs.length === limit) return { runs, nextCursor: cursor }
    }
    if (found.length < limit) return { runs, nextCursor: null }
  }
  return { runs, nextCursor: cursor }
}

function readStatus(text: string): RunStatus {
  const status = RUN_STATUSES.find((one) => one === text)
  if (!status) throw new DurablyError('invalid_argument', `status must be one of ${RUN_STATUSES.join(', ')}, got ${JSON.stringify(text)}`)
  return status
}

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX)
    throw new DurablyError('invalid_argument', `limit must be a whole number from 1 to ${LIMIT_MAX}, got ${JSON.stringify(text)}`)
  return limit
}
