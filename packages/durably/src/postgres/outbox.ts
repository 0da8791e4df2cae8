import type { Change } from '../store/notifier.ts'
import { ANYTHING, type Entry, entryOf } from './change-message.ts'

/** Postgres takes 7,999 bytes in one message; the rest is for the JSON around the entries. */
const ENTRIES_BYTES_MAX = 7900

/** The changes that wait to be sent: each once, and never more than one message can hold. */
export class Outbox {
  #entries = new Set<Entry>()
  #bytes = 0

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  add(change: Change): void {
    const entry = entryOf(change)
    if (this.#entries.has(ANYTHING) || this.#entries.has(entry)) return
    this.#bytes += Buffer.byteLength(JSON.stringify(entry)) + 1
    if (entry === ANYTHING || this.#bytes > ENTRIES_BYTES_MAX) this.#entries = new Set([ANYTHING])
    else this.#entries.add(entry)
  }

  take(): ReadonlySet<Entry> {
    const entries = this.#entries
    this.#entries = new Set()
    this.#bytes = 0
    return entries
  }
}
