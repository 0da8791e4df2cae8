import type { Run } from '@coji/durably/client'
import { expect, test } from 'vitest'
import { figuresByJob } from './job-figures.ts'

const NOW = Date.parse('2026-11-01T12:00:00Z')
const run = (jobName: string, status: Run['status'], minutesAgo: number, tookMs: number | null = null) =>
  ({
    jobName,
    status,
    createdAt: new Date(NOW - minutesAgo * 60_000).toISOString(),
    startedAt: tookMs === null ? null : new Date(NOW - minutesAgo * 60_000).toISOString(),
    finishedAt: tookMs === null ? null : new Date(NOW - minutesAgo * 60_000 + tookMs).toISOString(),
  }) as Run

test('the busiest job comes first, each with what became of its runs', () => {
  const figures = figuresByJob(
    [
      run('b', 'failed', 1, 5),
      run('a', 'completed', 10, 100),
      run('a', 'completed', 20, 300),
      run('a', 'failed', 30, 900),
      run('a', 'running', 60),
    ],
    NOW,
  )
  expect(figures).toMatchObject([
    {
      jobName: 'a',
      runs: 4,
      completed: 2,
      failed: 1,
      open: 1,
      successRate: 2 / 3,
      perHour: 4,
      medianMs: 100,
      p95Ms: 300,
      durationsMs: [300, 100],
    },
    { jobName: 'b', runs: 1, successRate: 0, medianMs: null },
  ])
})

test('two runs at once are no rate of thousands', () => {
  expect(figuresByJob([run('a', 'running', 0), run('a', 'running', 0)], NOW)).toMatchObject([{ perHour: 120, successRate: null }])
})
