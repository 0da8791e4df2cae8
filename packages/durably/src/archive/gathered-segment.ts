// The next segment of a run's history, read from the store: a page at a time, until it is large enough for a file.
import type { RecordedPayload } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import { charsOf } from '../store/pages-of.ts'
import type { Store } from '../store/store.ts'
import type { Segment } from './segment.ts'

/** As many rows as a reader of the log takes at once. */
const PAGE_MAX = 100

/** A segment is held in memory while it is written, and while it is read. */
const CHARS_MAX = 512 * 1024

export interface GatherDeps {
  store: Pick<Store, 'events' | 'logs'>
}

/** Events with the lines that they refer to; if there are none, other lines. Null if nothing is left. */
export async function gatherSegment(deps: GatherDeps, runId: string, archived: number): Promise<Segment | null> {
  const segment = await gatherEvents(deps, runId, archived)
  if (segment.events.length > 0) return segment
  const lines = await gatherLines(deps, runId)
  return lines.length > 0 ? { events: [], lines } : null
}

async function gatherEvents({ store }: GatherDeps, runId: string, archived: number): Promise<Segment> {
  const segment: Segment = { events: [], lines: [] }
  for (let after = archived, chars = 0; chars < CHARS_MAX; ) {
    const events = await store.events.list(runId, { after, limit: PAGE_MAX })
    const ids = events.flatMap(({ payload }) => (JSON.parse(payload) as RecordedPayload).logId ?? [])
    const lines = ids.length === 0 ? [] : await store.logs.find(runId, ids)
    segment.events.push(...events)
    segment.lines.push(...lines)
    if (events.length < PAGE_MAX) break
    after = events.at(-1)?.seq ?? after
    chars += charsOf(events) + charsOf(lines)
  }
  segment.lines.sort(byId)
  return segment
}

async function gatherLines({ store }: GatherDeps, runId: string): Promise<LogRow[]> {
  const lines: LogRow[] = []
  for (let after = '', chars = 0; chars < CHARS_MAX; ) {
    const page = await store.logs.list(runId, { after, limit: PAGE_MAX })
    lines.push(...page)
    if (page.length < PAGE_MAX) break
    after = page.at(-1)?.id ?? after
    chars += charsOf(page)
  }
  return lines
}

function byId(a: LogRow, b: LogRow): number {
  return a.id < b.id ? -1 : 1
}
