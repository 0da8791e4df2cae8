import { expect, test } from 'vitest'
import { timelineOf } from '../timeline/timeline.ts'
import { conditionsInWords } from './conditions.ts'
import { durationInWords, momentInWords } from './duration.ts'
import { turnInWords } from './turn.ts'
import { waitInWords } from './waiting.ts'

const NOW = Date.parse('2026-11-01T12:00:00Z')

test.each([
  [-5, '0 ms'],
  [999, '999 ms'],
  [1000, '1.0 s'],
  [9940, '9.9 s'],
  [59_900, '60 s'],
  [60_000, '1 m'],
  [72_000, '1 m 12 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
])('%d ms are %s', (ms, words) => {
  expect(durationInWords(ms)).toBe(words)
})

test.each([
  ['2026-11-01T12:00:00.900Z', 'now'],
  ['2026-11-01T11:59:48Z', '12 s ago'],
  ['2026-11-01T15:00:00Z', 'in 3 h'],
  ['2026-11-08T11:59:50Z', 'in 7 d'],
  ['9999-12-31T23:59:59.999Z', 'never'],
  ['nonsense', 'unknown'],
])('%s is %s', (iso, words) => {
  expect(momentInWords(iso, NOW)).toBe(words)
})

test('what a run waits for is a sentence with the names in it', () => {
  expect(waitInWords({ kind: 'signal', name: 'approval', until: null }, NOW)).toBe('It waits for the signal “approval”.')
  expect(waitInWords({ kind: 'sleep', step: 'nap', until: '2026-11-01T12:05:00Z' }, NOW)).toBe(
    'It sleeps in step “nap” and goes on in 5 m.',
  )
})

test('turns say who took over from whom', () => {
  const { turns } = timelineOf([
    { at: NOW - 5000, kind: 'start', workerId: 'a' },
    { at: NOW - 2000, kind: 'end', how: 'lost' },
    { at: NOW - 1000, kind: 'start', workerId: 'b' },
  ])
  expect(turns.map((turn, i) => turnInWords(turn, NOW, i))).toEqual([
    'a held it for 0 ms, and was lost (silent for 3.0 s).',
    'b took it over from a and held it for 1.0 s so far.',
  ])
})

test('a filter is said in full before all its runs are changed', () => {
  expect(conditionsInWords({})).toEqual([])
  expect(conditionsInWords({ phase: ['failed', 'stale'], jobName: 'a', labels: { tenant: 'acme' }, createdAfter: new Date(NOW) })).toEqual([
    'in phase failed or stale',
    'of job a',
    'triggered after 2026-11-01T12:00:00.000Z',
    'with label tenant=acme',
  ])
})
