// Reads the event logs and the log lines of a store as if nothing had been moved to files.
//   B1. Rows are read before the run says which files it has. So what is moved to a file in between is found twice, and never missed.
//   B2. A page has fewer rows than its limit only at the end of the log, or before a file that cannot be read; reading the next page rejects.
import type { Env } from '../model/env.ts'
import type { EventRow } from '../model/event.ts'
import type { LogRow } from '../model/log.ts'
import type { EventPage } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { type Part, partsOf } from './log-ref.ts'
import { SegmentReader } from './segment-reader.ts'

export class ArchivedReads {
  readonly #store: Store
  readonly #segments: SegmentReader

  constructor(store: Store, env: Env, files: ArchiveFiles) {
    this.#store = store
    this.#segments = new SegmentReader(env, files)
  }

  readonly events: Store['events'] = {
    list: async (runId, { after = 0, limit = Number.MAX_SAFE_INTEGER } = {}) => {
      const rows = await this.#store.events.list(runId, { after, limit })
      if (rows[0]?.seq === after + 1) return rows
      const parts = (await this.#partsOf(runId)).filter(({ first, last }) => last > after && last >= first)
      const found = await this.#eventsOf(runId, parts, { after, limit })
      const last = parts.at(-1)?.last ?? after
      // Rows come after the files, if those were read to their end.
      const others = (found.at(-1)?.seq ?? after) === last ? rows.filter(({ seq }) => seq > last) : []
      return [...found, ...others].slice(0, limit)
    },
    heads: (runIds) => this.#store.events.heads(runIds),
  }

  readonly logs: Store['logs'] = {
    append: (lines) => this.#store.logs.append(lines),
    list: async (runId, { after = '', limit = Number.MAX_SAFE_INTEGER } = {}) => {
      const rows = await this.#store.logs.list(runId, { after, limit })
      const lines = new Map(rows.map((row) => [row.id, row]))
      for (const part of linesAfter(await this.#partsOf(runId), after)) {
        // The page is full, and this file has only later lines.
        if (lines.size >= limit && part.lines.from > lastOf(lines, limit)) break
        for (const line of (await this.#segments.read(runId, part)).lines) if (line.id > after) lines.set(line.id, line)
      }
      return inOrder(lines).slice(0, limit)
    },
    find: async (runId, ids) => {
      const found = new Map((await this.#store.logs.find(runId, ids)).map((row) => [row.id, row]))
      if (found.size === ids.length) return [...found.values()]
      const wanted = new Set(ids)
      for (const part of this.#segments.keptFirst(runId, await this.#partsOf(runId))) {
        const { lines } = await this.#segments.read(runId, part)
        for (const line of lines) if (wanted.has(line.id)) found.set(line.id, line)
        if (found.size === wanted.size) break
      }
      return [...found.values()]
    },
  }

  async #partsOf(runId: string): Promise<Part[]> {
    const run = await this.#store.runs.get(runId)
    return partsOf(run?.logRef ?? '')
  }

  /** Reads files until there are `limit` events or more. It stops before a file that cannot be read, and rejects if that is the first one. */
  async #eventsOf(runId: string, parts: readonly Part[], { after, limit }: Required<EventPage>): Promise<EventRow[]> {
    const found: EventRow[] = []
    for (const part of parts) {
      try {
        const { events } = await this.#segments.read(runId, part)
        found.push(...events.filter(({ seq }) => seq > after))
      } catch (error) {
        if (found.length === 0) throw error
        break
      }
      if (found.length >= limit) break
    }
    return found
  }
}

/** The files that have log lines after this one, ordered by their first line. */
function linesAfter(parts: readonly Part[], after: string): (Part & { lines: NonNullable<Part['lines']> })[] {
  const found = parts.flatMap((part) => (part.lines && part.lines.to > after ? { ...part, lines: part.lines } : []))
  return found.sort((a, b) => (a.lines.from < b.lines.from ? -1 : 1))
}

/** The id of the last line on a page. */
function lastOf(lines: ReadonlyMap<string, LogRow>, limit: number): string {
  return inOrder(lines)[limit - 1]?.id ?? ''
}

function inOrder(lines: ReadonlyMap<string, LogRow>): LogRow[] {
  return [...lines.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
