import type { Phase } from '@coji/durably/client'
import { expect, test } from 'vitest'
import { PHASES } from '../words/phase.ts'
import { countLines, MARGIN } from './count-lines.ts'

const size = { width: 600, height: 200 }
const sample = (at: number, counts: Partial<Record<Phase, number>>) => ({
  at,
  counts: { ...(Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>), ...counts },
})

test('there is a line for each phase, and higher counts are higher in the picture', () => {
  const { lines } = countLines(
    [sample(0, { running: 1, failed: 9 }), sample(60_000, { running: 1, failed: 9 })],
    ['running', 'failed'],
    size,
  )
  expect(lines.map(({ phase }) => phase)).toEqual(['running', 'failed'])
  const heightOf = (path = '') => Number(/^M[\d.]+,([\d.]+)/.exec(path)?.[1])
  expect(heightOf(lines[1]?.path)).toBeLessThan(heightOf(lines[0]?.path))
})

test('the axis of counts begins at 0 and has whole numbers, also without any runs', () => {
  const { counts, times } = countLines([sample(0, {})], ['running'], size)
  expect(counts.map(({ text }) => text)).toEqual(['0', '1', '2', '3', '4'])
  expect(counts[0]?.at).toBe(size.height - MARGIN.bottom)
  expect(times.length).toBeGreaterThan(1)
})

test('a million is short', () => {
  const { counts } = countLines([sample(0, { completed: 1_000_000 })], ['completed'], size)
  expect(counts.at(-1)?.text).toBe('1M')
})
