// GET /audit: who did what, page by page. The target is `kind` and `id`.
import type { AuditFilter } from '../index.ts'
import { jsonResponse } from './json-response.ts'
import { queryParameter, readLimit, refuseUnknown, timeParameter } from './query.ts'
import { ofAll } from './visible-run.ts'

const SAME_NAME = ['actor', 'action', 'cursor']
const TIMES = ['after', 'before']
const TARGET = ['kind', 'id']

export const listAudit = ofAll('audit:read', async ({ server, query }) => {
  refuseUnknown(query, [...TARGET, ...SAME_NAME, ...TIMES, 'limit'])
  const limit = readLimit(query)
  const target = fields(query, TARGET)
  const filter = { ...fields(query, SAME_NAME), ...fields(query, TIMES, timeParameter), limit } as AuditFilter
  const entries = await server.durably.audit.list(Object.keys(target).length === 0 ? filter : ({ ...filter, target } as AuditFilter))
  const last = entries.at(-1)
  return jsonResponse(200, { entries, nextCursor: last && entries.length === limit ? `${last.at}/${last.id}` : null })
})

/** Those parameters that are given. */
function fields(
  query: URLSearchParams,
  names: readonly string[],
  read: (text: string) => unknown = (text) => text,
): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => query.has(name)).map((name) => [name, read(queryParameter(query, name) ?? '')]))
}
