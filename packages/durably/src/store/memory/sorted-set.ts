// SortedSet — items in the order of a comparison that never calls two of them equal.
// Short sorted blocks instead of one array, so that adding and deleting stay cheap with a hundred thousand items: O(log n)
// comparisons, and one at either end, where a queue is changed most. An item's place must not change while it is inside.

const BLOCK_MAX = 512

export class SortedSet<T> {
  readonly #compare: (a: T, b: T) => number
  /** No block is empty. */
  readonly #blocks: T[][] = []

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  add(item: T): void {
    const last = this.#blocks[this.#blocks.length - 1]
    if (last === undefined || this.#compare(last[last.length - 1] as T, item) < 0) return this.#append(item, last)
    const { block, index } = this.#placeOf(item)
    const items = this.#blocks[block] as T[]
    items.splice(index, 0, item)
    if (items.length > BLOCK_MAX) this.#blocks.splice(block + 1, 0, items.splice(BLOCK_MAX / 2))
  }

  #append(item: T, last: T[] | undefined): void {
    if (last !== undefined && last.length < BLOCK_MAX) last.push(item)
    else this.#blocks.push([item])
  }

  /** Whether it was there. */
  delete(item: T): boolean {
    const { block, index } = this.first() === item ? FIRST : this.#placeOf(item)
    const items = this.#blocks[block]
    if (items?.[index] !== item) return false
    if (items.length === 1) this.#blocks.splice(block, 1)
    else if (index === 0) items.shift()
    else items.splice(index, 1)
    return true
  }

  first(): T | undefined {
    return this.#blocks[0]?.[0]
  }

  /** The first item that is past a point in the order. */
  firstPast(isPast: (item: T) => boolean): T | undefined {
    const { block, index } = this.#seek(isPast)
    return this.#blocks[block]?.[index]
  }

  /** From the first item that is past a point in the order up to the last. */
  *ascending(isPast: (item: T) => boolean = () => true): Iterable<T> {
    let { block, index } = this.#seek(isPast)
    for (let items = this.#blocks[block]; items; items = this.#blocks[++block], index = 0) {
      for (; index < items.length; index++) yield items[index] as T
    }
  }

  /** From the last item that is not past a point in the order down to the first. */
  *descending(isPast: (item: T) => boolean = () => false): Iterable<T> {
    let { block, index } = this.#seek(isPast)
    for (; block >= 0; index = this.#blocks[--block]?.length ?? 0) {
      const items = this.#blocks[block] ?? []
      for (index--; index >= 0; index--) yield items[index] as T
    }
  }

  #placeOf(item: T): Place {
    return this.#seek((other) => this.#compare(other, item) >= 0)
  }

  /** Where `isPast` turns from false to true; behind the last item when it never does. */
  #seek(isPast: (item: T) => boolean): Place {
    const block = turningPoint(this.#blocks, (items) => isPast(items[items.length - 1] as T))
    return { block, index: turningPoint(this.#blocks[block] ?? [], isPast) }
  }
}

interface Place {
  readonly block: number
  readonly index: number
}

const FIRST: Place = { block: 0, index: 0 }

function turningPoint<T>(items: readonly T[], isPast: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
