/** A map of limited size: when it is full, the entry that was not used for longest is evicted. */
export class LruMap<K, V> {
  readonly #max: number
  readonly #onEvict: (value: V) => void
  /** A Map iterates in the order of insertion, and `get` inserts anew: the first entry is the least recently used. */
  readonly #entries = new Map<K, V>()

  constructor(max: number, onEvict: (value: V) => void = () => {}) {
    this.#max = max
    this.#onEvict = onEvict
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#max) this.#evictFirst()
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  /** Evicts every entry. */
  clear(): void {
    while (this.#evictFirst());
  }

  #evictFirst(): boolean {
    for (const [key, value] of this.#entries) {
      this.#entries.delete(key)
      this.#onEvict(value)
      return true
    }
    return false
  }
}
