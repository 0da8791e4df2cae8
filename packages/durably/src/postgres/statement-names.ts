import { createHash } from 'node:crypto'
import { LruMap } from '../model/lru-map.ts'

/** A connection keeps what it has prepared for as long as it lives. The store has about 40. */
const NAMES_MAX = 200
const SEEN_MAX = 500

/** Names for statements that are worth preparing: those that are sent with values, and for the second time. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  readonly #seen = new LruMap<string, true>(SEEN_MAX)
  #edition = 0

  of(text: string, values: readonly unknown[]): string | undefined {
    const known = this.#names.get(text)
    if (known !== undefined || values.length === 0) return known
    if (this.#seen.delete(text) && this.#names.size < NAMES_MAX) {
      // By its text: several dialects may share a connection.
      const name = `durably_${this.#edition}_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
      this.#names.set(text, name)
      return name
    }
    this.#seen.set(text, true)
    return undefined
  }

  /** What was prepared before is not used any more. */
  renew(): void {
    this.#edition += 1
    this.#names.clear()
  }
}
