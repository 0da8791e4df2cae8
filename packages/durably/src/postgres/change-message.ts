// The messages on the channel: `{"v":1,"from":"01J…","changes":["w","e01J…"]}`. Any other message comes from another program or from a
// newer version of this code, and is ignored.
import type { Change } from '../store/notifier.ts'

const VERSION = 1

/** One change as it is sent: a letter for its type, then the id of the run. */
export type Entry = string

export const ANYTHING: Entry = '*'

export interface Message {
  /** The id of the notifier that sent it. */
  from: string
  changes: Change[]
  /** The id of a self-test. */
  probe: string | null
}

export function entryOf(change: Change): Entry {
  switch (change.type) {
    case 'work':
      return 'w'
    case 'events':
      return `e${change.runId}`
    case 'cancel':
      return `c${change.runId}`
    case 'anything':
      return ANYTHING
  }
}

export function changeMessage(from: string, entries: Iterable<Entry>): string {
  return JSON.stringify({ v: VERSION, from, changes: [...entries] })
}

export function probeMessage(from: string, probe: string): string {
  return JSON.stringify({ v: VERSION, from, probe })
}

export function readMessage(payload: string): Message | null {
  const { v, from, changes, probe } = parsed(payload)
  if (v !== VERSION || typeof from !== 'string') return null
  return { from, changes: Array.isArray(changes) ? changes.flatMap(readEntry) : [], probe: typeof probe === 'string' ? probe : null }
}

function readEntry(entry: unknown): Change[] {
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
