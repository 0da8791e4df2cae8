// What travels on the channel: `{"v":1,"from":"01J…","news":["w","e01J…"]}`. Whatever else is heard there is not ours, or newer
// than this code, and says nothing.
import type { News } from '../store/notifier.ts'

const VERSION = 1

/** One piece of news as it is sent: what it is about in a letter, then whom. */
export type Entry = string

export const ANYTHING: Entry = '*'

export interface Message {
  /** The notifier that sent it. */
  from: string
  news: News[]
  /** The number of a self-test. */
  probe: string | null
}

export function entryOf(news: News): Entry {
  switch (news.type) {
    case 'work':
      return 'w'
    case 'events':
      return `e${news.runId}`
    case 'cancel':
      return `c${news.runId}`
    case 'anything':
      return ANYTHING
  }
}

export function changeMessage(from: string, entries: Iterable<Entry>): string {
  return JSON.stringify({ v: VERSION, from, news: [...entries] })
}

export function probeMessage(from: string, probe: string): string {
  return JSON.stringify({ v: VERSION, from, probe })
}

export function readMessage(payload: string): Message | null {
  const { v, from, news, probe } = parsed(payload)
  if (v !== VERSION || typeof from !== 'string') return null
  return { from, news: Array.isArray(news) ? news.flatMap(readEntry) : [], probe: typeof probe === 'string' ? probe : null }
}

function readEntry(entry: unknown): News[] {
  if (typeof entry !== 'string') return []
  const runId = entry.slice(1)
  if (entry === 'w') return [{ type: 'work' }]
  if (entry === ANYTHING) return [{ type: 'anything' }]
  if (entry.startsWith('e') && runId) return [{ type: 'events', runId }]
  if (entry.startsWith('c') && runId) return [{ type: 'cancel', runId }]
  return []
}

function parsed(payload: string): { [name: string]: unknown } {
  try {
    return Object(JSON.parse(payload))
  } catch {
    return {}
  }
}
