// GET /runs: the newest runs that the caller may read, page by page.
import { cursorOf } from '../model/check-filter.ts'
import type { Run } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import { isAllowed } from './authorize.ts'
import { type PageFilter, pageFilter } from './filter-query.ts'
import { jsonResponse } from './json-response.ts'
import { listedValues } from './listed-values.ts'
import { shownTo } from './shown-run.ts'
import { ofAll } from './visible-run.ts'

/** A caller who may read few of very many runs gets short pages, and continues with their cursors. */
const READS_MAX = 20

interface Page {
  runs: Run[]
  /** `null` at the end of the list. */
  nextCursor: string | null
  /** For `direction=previous`; `null` at the beginning of the list. */
  previousCursor: string | null
}

export const listRuns = ofAll('runs:list', async (call) => {
  const { server, request } = call
  const mayRead = (run: Run) => isAllowed(server.config.authorize, request, 'runs:read', run)
  const { filter, listed } = listedValues(server.config, await pageFilter(call))
  const { runs, ...cursors } = await readablePage((filter) => server.durably.getRuns(filter), mayRead, filter)
  const shown = await shownTo(call)
  return jsonResponse(200, { runs: runs.map((run) => shown.run(listed(run))), ...cursors })
})

/** Runs that the caller may not read are left out, and the page is filled up with the next ones. */
async function readablePage(
  getRuns: (filter: RunFilter) => Promise<Run[]>,
  mayRead: (run: Run) => Promise<boolean>,
  filter: PageFilter,
): Promise<Page> {
  const { limit, cursor: given, direction = 'next' } = filter
  const runs: Run[] = []
  let cursor: string | null = given ?? null
  let isLast = false
  for (let reads = 0; reads < READS_MAX && runs.length < limit && !isLast; reads++) {
    const found: Run[] = await getRuns({ ...filter, ...(cursor !== null && { cursor }) })
    isLast = found.length < limit
    for (const run of direction === 'next' ? found : found.reverse()) {
      cursor = cursorOf(run, filter)
      if (await mayRead(run)) runs.push(run)
      if (runs.length === limit) {
        isLast = false
        break
      }
    }
  }
  const onward = isLast ? null : cursor
  const [first] = runs
  const back = given === undefined || !first ? null : cursorOf(first, filter)
  return direction === 'next'
    ? { runs, nextCursor: onward, previousCursor: back }
    : { runs: runs.reverse(), nextCursor: back, previousCursor: onward }
}
