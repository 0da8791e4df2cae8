import { createHash } from 'node:crypto'
import { LruMap } from '../model/lru-map.ts'

/** A connection keeps its prepared statements as long as it lives. The store has about 40. */
const NAMES_MAX = 200
const SEEN_MAX = 500

/** Names the statements that are worth preparing: those with values that are sent for the second time. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  readonly #seen = new LruMap<string, true>(SEEN_MAX)
  #edition = 0

  of(text: string, values: readonly unknown[]): string | undefined {
    const known = this.#names.get(text)
    if (known !== undefined || values.length === 0) return known
    if (this.#seen.delete(text) && this.#names.size < NAMES_MAX) {
      // The name is a hash of the text, because several dialects may share a connection.
      const name = `durably_${this.#edition}_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
      this.#names.set(text, name)
      return name
    }
    this.#seen.set(text, true)
    return undefined
  }

  /** From now on every statement is prepared again, under another name. */
  renew(): void {
    this.#edition += 1
    this.#names.clear()
  }
}
