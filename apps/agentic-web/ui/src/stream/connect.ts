// One connection to the events of a run, until it ends for any reason.
import { signedOut } from '../api/request.ts'
import type { LogEntry } from '../state/run-log.ts'
import { SseEntries } from './sse-entries.ts'

/** The server sends a comment every 15 seconds. A connection that is silent for longer is dead, even if it looks open. */
const SILENCE_MS = 35_000

export type ConnectionEnd =
  /** It broke, or the server wants the page to come again. */
  | 'cut'
  /** The run has ended, and the page has seen all of it. */
  | 'seen'
  /** The run, or its session, is gone. */
  | 'gone'
  /** The cursor is not one of this log. */
  | 'other-log'

export interface Connection {
  runId: string
  after: number
  signal: AbortSignal
  onOpen: () => void
  onEntries: (entries: LogEntry[]) => void
}

export async function connect({ runId, after, signal, onOpen, onEntries }: Connection): Promise<ConnectionEnd> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const response = await fetch(`/api/runs/${encodeURIComponent(runId)}/events`, {
      headers: { Accept: 'text/event-stream', ...(after > 0 && { 'Last-Event-ID': String(after) }) },
      signal: AbortSignal.any([signal, silence.signal]),
      cache: 'no-store',
    })
    if (response.status === 401) signedOut()
    const end = ENDS[response.status]
    if (end) return end
    if (!response.ok || !response.body) return 'cut'
    onOpen()
    const entries = new SseEntries()
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const complete = entries.read(decoder.decode(read.value, { stream: true }))
      if (complete.length > 0) onEntries(complete)
    }
    return 'cut'
  } catch {
    return 'cut'
  } finally {
    clearTimeout(timer)
  }
}

const ENDS: Readonly<Record<number, ConnectionEnd>> = { 204: 'seen', 401: 'gone', 404: 'gone', 410: 'gone', 409: 'other-log' }
