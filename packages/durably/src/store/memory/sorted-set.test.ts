import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SortedSet } from './sorted-set.ts'

const COUNT = 100_000

describe('SortedSet', () => {
  it('answers like an array that is sorted after every change', () => {
    const changes = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3000 })), { maxLength: 3000, size: 'max' })
    fc.assert(
      fc.property(changes, fc.integer({ min: -1, max: 3001 }), (changes, point) => {
        const set = new SortedSet<number>((a, b) => a - b)
        const model = new Set<number>()
        for (const [isAdded, item] of changes) {
          if (!isAdded) {
            set.delete(item)
            model.delete(item)
          } else if (!model.has(item)) {
            set.add(item)
            model.add(item)
          }
        }
        const sorted = [...model].sort((a, b) => a - b)
        const above = sorted.filter((item) => item > point)
        expect([...set.ascending()]).toEqual(sorted)
        expect([...set.descending()]).toEqual([...sorted].reverse())
        expect(set.first()).toBe(sorted[0])
        expect(set.firstPast((item) => item > point)).toBe(above[0])
        expect([...set.ascending((item) => item > point)]).toEqual(above)
        expect([...set.descending((item) => item > point)]).toEqual(sorted.filter((item) => item <= point).reverse())
      }),
      { numRuns: 100 },
    )
  })

  it('keeps a hundred thousand items in order, added at both ends and taken from the front', () => {
    const set = new SortedSet<number>((a, b) => a - b)
    for (let i = 0; i < 50_000; i++) {
      set.add(i)
      set.add(-1 - i)
    }
    const taken: number[] = []
    for (let first = set.first(); first !== undefined; first = set.first()) {
      taken.push(first)
      set.delete(first)
    }
    expect(taken).toEqual(Array.from({ length: 100_000 }, (_, i) => i - 50_000))
  })

  describe('with a hundred thousand items', () => {
    /** A few more than log2 of the count: blocks need not be full. */
    const COMPARISONS_MAX = Math.ceil(Math.log2(COUNT)) + 4

    it('compares O(log n) times for a change anywhere', () => {
      const { set, comparisons } = counted()
      expect(most((i) => comparisons(() => set.add(scattered(i))))).toBeLessThanOrEqual(COMPARISONS_MAX)
      expect(most((i) => comparisons(() => set.delete(scattered(i))))).toBeLessThanOrEqual(COMPARISONS_MAX)
      expect(set.first()).toBeUndefined()
    })

    it('compares once to add behind the last, and not at all to take the first', () => {
      const { set, comparisons } = counted()
      expect(most((i) => comparisons(() => set.add(i)))).toBe(1)
      expect(most(() => comparisons(() => set.delete(set.first() ?? -1)))).toBe(0)
      expect(set.first()).toBeUndefined()
    })
  })
})

function counted() {
  let compared = 0
  const set = new SortedSet<number>((a, b) => {
    compared++
    return a - b
  })
  const comparisons = (change: () => void) => {
    compared = 0
    change()
    return compared
  }
  return { set, comparisons }
}

/** The highest of a hundred thousand counts. */
function most(count: (i: number) => number): number {
  let highest = 0
  for (let i = 0; i < COUNT; i++) highest = Math.max(highest, count(i))
  return highest
}

/** Each number below a prime once, in no order. */
function scattered(i: number): number {
  return (i * 48_271) % 100_003
}
