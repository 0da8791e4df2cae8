import { checkKeys, type KeysOf } from './known-keys.ts'
import { wrong } from './run-filter.ts'

/** Which page `getSteps`, `getLogs` or `schedules.list` returns. */
export interface PageOptions {
  /** How many are returned at most. Default: all. */
  limit?: number
  /** The id of the last step, log line or schedule of the page before. Default: the first page. */
  cursor?: string
}

const PAGE_OPTIONS: KeysOf<PageOptions> = { limit: 1, cursor: 1 }

/** As a store takes it. */
export function readPage(verb: string, options: PageOptions = {}): { limit?: number; after?: string } {
  checkKeys(verb, options, PAGE_OPTIONS)
  const { limit, cursor } = options
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) throw wrong('limit', 'a positive whole number', limit)
  if (cursor !== undefined && typeof cursor !== 'string') throw wrong('cursor', 'a text', cursor)
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { after: cursor }) }
}
