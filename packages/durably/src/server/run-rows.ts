// GET /runs/:id/steps and /runs/:id/logs, page by page.
import type { PageOptions } from '../model/page-options.ts'
import { toStep } from '../model/to-step.ts'
import { logPages, stepPages, toLog } from '../runs/run-rows.ts'
import { charsOf } from '../store/pages-of.ts'
import { jsonResponse } from './json-response.ts'
import { PAGE_CHARS_MAX, queryParameter, readLimit, refuseUnknown } from './query.ts'
import { shownTo } from './shown-run.ts'
import { ofRun } from './visible-run.ts'

export const getSteps = ofRun('runs:read', async (call, { id }) => {
  const { store, trigger } = call.server.engine
  const { rows, nextCursor } = await pageOf(call.query, (options) => stepPages(store, id, options))
  const shown = await shownTo(call)
  return jsonResponse(200, { steps: rows.map((row) => shown.step(toStep(row, trigger.codec))), nextCursor })
})

export const getLogs = ofRun('runs:read', async ({ query, server: { engine } }, { id }) => {
  const { rows, nextCursor } = await pageOf(query, (options) => logPages(engine.follow.store, id, options))
  return jsonResponse(200, { logs: rows.map((row) => toLog(row, engine.trigger.codec)), nextCursor })
})

interface Page<Row> {
  rows: Row[]
  /** `null` after the last page. */
  nextCursor: string | null
}

async function pageOf<Row extends { id: string }>(
  query: URLSearchParams,
  read: (options: PageOptions) => AsyncIterable<Row[]>,
): Promise<Page<Row>> {
  refuseUnknown(query, ['limit', 'cursor'])
  const limit = readLimit(query)
  const cursor = queryParameter(query, 'cursor')
  const rows: Row[] = []
  let chars = 0
  for await (const part of read({ limit, ...(cursor !== null && { cursor }) }))
    for (const row of part) {
      rows.push(row)
      chars += charsOf([row])
      if (rows.length === limit || chars > PAGE_CHARS_MAX) return { rows, nextCursor: row.id }
    }
  return { rows, nextCursor: null }
}
