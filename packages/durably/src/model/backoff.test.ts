import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'
import { systemEnv } from './env.ts'

function drawing(chance: number) {
  return { ...systemEnv(), random: () => chance }
}

test('the first pause is short, the longest is a second, whatever the dice say', () => {
  for (const chance of [0, 0.5, 1 - Number.EPSILON]) {
    for (const attempt of [0, 1, 2, 10, 1_000, 1e9]) {
      const ms = backoffMs(drawing(chance), attempt)
      expect(ms).toBeGreaterThanOrEqual(20)
      expect(ms).toBeLessThanOrEqual(1_000)
    }
  }
})

test('the ceiling doubles', () => {
  const highest = [0, 1, 2, 3, 4, 5, 6].map((attempt) => backoffMs(drawing(1 - Number.EPSILON), attempt))
  expect(highest).toStrictEqual([20, 40, 80, 160, 320, 640, 1_000])
})
