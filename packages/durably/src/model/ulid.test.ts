import { decodeTime, isValid, monotonicFactory } from 'ulidx'
import { describe, expect, test } from 'vitest'
import { isUlid } from './is-ulid.ts'
import { monotonicUlids, timeOfId } from './ulid.ts'

const NOW_MS = 1_700_000_000_000

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

describe('monotonicUlids', () => {
  test('gives the ids that ulidx gives for the same times and the same chance', () => {
    const [ours, theirs] = [monotonicUlids(seeded(7)), monotonicFactory(seeded(7))]
    const times = [NOW_MS, NOW_MS, NOW_MS, NOW_MS + 1, NOW_MS - 5000, NOW_MS + 1, NOW_MS + 2, 2 ** 48 - 1]
    for (const time of times.flatMap((time) => Array.from({ length: 100 }, () => time))) expect(ours(time)).toBe(theirs(time))
  })

  test('counts on through every digit, and each id is greater than the one before (U1)', () => {
    let drawn = 0
    // The last four digits begin as ZZZZ, and the one before them as 0.
    const next = monotonicUlids(() => (drawn++ < 4 ? 1 : 0))
    const ids = Array.from({ length: 70_000 }, () => next(NOW_MS))
    expect(ids[0]?.slice(-5)).toBe('0ZZZZ')
    expect(ids[1]?.slice(-5)).toBe('10000')
    expect(ids.every(isValid)).toBe(true)
    expect(ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? ''))).toBe(true)
  })

  test('refuses to begin again at zero', () => {
    const next = monotonicUlids(() => 1)
    next(NOW_MS)
    expect(() => next(NOW_MS)).toThrow(/U1/)
    expect(next(NOW_MS + 1)).toMatch(/^[0-9A-Z]{26}$/)
  })
})

test.each([1, NOW_MS, 2 ** 48 - 1])('says when an id was made: %d', (time) => {
  const id = monotonicFactory(seeded(3))(time)
  expect(timeOfId(id)).toBe(time)
  expect(timeOfId(id)).toBe(decodeTime(id))
})

test.each(['', 'a run', '01ARZ3NDEKTSV4RRFFQ69G5FA', '81ARZ3NDEKTSV4RRFFQ69G5FAV', '01ARZ3NDEKTSV4RRFFQ69G5FAU', null])(
  '%j is no id',
  (text) => {
    expect(isUlid(text)).toBe(false)
  },
)

test('its own ids are ids', () => {
  expect(isUlid(monotonicUlids(Math.random)(NOW_MS))).toBe(true)
})
