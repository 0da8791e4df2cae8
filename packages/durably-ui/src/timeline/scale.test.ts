import { expect, test } from 'vitest'
import { scaleOf } from './scale.ts'
import { timelineOf } from './timeline.ts'

const worked = (from: number, to: number, how: 'waiting' | 'completed' = 'waiting') => [
  { at: from, kind: 'start', workerId: 'a' } as const,
  { at: to, kind: 'end', how } as const,
]

test('without a pause it is linear, from 0 to 1', () => {
  const { position, breaks } = scaleOf(timelineOf(worked(100, 200, 'completed')), null)
  expect([100, 150, 200].map(position)).toEqual([0, 0.5, 1])
  expect(breaks).toEqual([])
  expect([position(0), position(999)]).toEqual([0, 1])
})

test('a sleep of days leaves the work visible', () => {
  const day = 86_400_000
  const { position, breaks } = scaleOf(timelineOf([...worked(0, 1000), ...worked(3 * day, 3 * day + 1000, 'completed')]), null)
  expect(breaks).toEqual([{ from: 1000, to: 3 * day }])
  expect(position(1000)).toBeGreaterThan(0.4)
  expect(position(3 * day)).toBeLessThan(0.6)
  expect(position(3 * day)).toBeGreaterThan(position(1000))
})

test('it never goes back', () => {
  const { position } = scaleOf(timelineOf([...worked(0, 50), ...worked(400, 420), ...worked(430, 900, 'completed')]), null)
  const places = Array.from({ length: 100 }, (_, i) => position(i * 9))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

test('a run that waits has its wait at the end, up to now', () => {
  const { position, breaks, end } = scaleOf(timelineOf(worked(0, 100)), 10_000)
  expect(end).toBe(10_000)
  expect(breaks).toEqual([{ from: 100, to: 10_000 }])
  expect(position(100)).toBeLessThan(1)
  expect(position(10_000)).toBe(1)
})
