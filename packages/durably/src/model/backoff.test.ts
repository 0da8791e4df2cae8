import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'

const HIGHEST = 1 - Number.EPSILON
const drawing = (chance: number) => ({ random: () => chance })

test('the first pause is short, the longest is a second, whatever the dice say', () => {
  for (const chance of [0, 0.5, HIGHEST]) {
    for (const failures of [0, 1, 2, 10, 1_000, 1e9]) {
      const ms = backoffMs(drawing(chance), failures)
      expect(ms).toBeGreaterThanOrEqual(20)
      expect(ms).toBeLessThanOrEqual(1_000)
    }
  }
})

test('the ceiling doubles', () => {
  const highest = [0, 1, 2, 3, 4, 5, 6].map((failures) => backoffMs(drawing(HIGHEST), failures))
  expect(highest).toStrictEqual([20, 40, 80, 160, 320, 640, 1_000])
})

test('a caller chooses the first, the longest and the shortest pause', () => {
  const backoff = { firstMs: 250, longestMs: 3_000, shortestMs: 0 }
  const pauses = (chance: number) => [0, 1, 2, 3, 4, 50].map((failures) => backoffMs(drawing(chance), failures, backoff))
  expect(pauses(0)).toStrictEqual([0, 0, 0, 0, 0, 0])
  expect(pauses(HIGHEST)).toStrictEqual([250, 500, 1_000, 2_000, 3_000, 3_000])
})
