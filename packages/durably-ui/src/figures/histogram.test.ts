import { expect, test } from 'vitest'
import { histogramOf, quantile } from './histogram.ts'

test('every duration is in one bar, within its bounds', () => {
  const durations = [0, 1, 3, 999, 1000, 1001, 60_000, 3_600_000, 3_600_000]
  const bars = histogramOf(durations)
  expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(durations.length)
  for (const { fromMs, toMs, count } of bars) {
    const inside = durations.map((ms) => Math.max(1, ms)).filter((ms) => ms >= fromMs * 0.9999 && ms < toMs * 1.0001)
    expect(inside.length).toBeGreaterThanOrEqual(count)
  }
  expect(bars.length).toBeLessThanOrEqual(24)
})

test('bars follow each other without a gap', () => {
  const bars = histogramOf([5, 80, 2000])
  for (const [i, bar] of bars.entries()) if (i > 0) expect(bar.fromMs).toBeCloseTo(bars[i - 1]?.toMs ?? 0)
})

test('durations that are all the same are one bar, and none is no bar', () => {
  expect(histogramOf([100, 100])).toMatchObject([{ count: 2 }])
  expect(histogramOf([])).toEqual([])
})

test('a quantile is one of the durations', () => {
  expect([0.5, 0.95, 1].map((part) => quantile([40, 10, 30, 20], part))).toEqual([20, 40, 40])
  expect(quantile([], 0.5)).toBeNull()
})
