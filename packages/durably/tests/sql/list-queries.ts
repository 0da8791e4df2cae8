// Every condition of a list, alone and beside others, in both directions. A database must answer each of them by an index.
import { PHASES } from '../../src/model/phase.ts'
import type { RunQuery } from '../../src/store/runs.ts'

const CONDITIONS: RunQuery[] = [
  {},
  { statuses: ['failed'] },
  { statuses: ['pending', 'failed'] },
  ...PHASES.map((phase): RunQuery => ({ phases: [phase] })),
  { phases: ['sleeping', 'stale'] },
  { phases: ['assigned', 'orphaned'] },
  { phases: ['assigned', 'orphaned'], jobNames: ['job'] },
  { phases: ['failed'], timedOut: true },
  { phases: ['failed', 'running'], timedOut: false },
  { jobNames: ['job'] },
  { jobNames: ['job', 'other'] },
  { jobNames: ['job'], statuses: ['failed'] },
  { jobNames: ['job', 'other'], statuses: ['failed', 'completed'], phases: ['failed'] },
  { concurrencyKey: 'key 7' },
  { idempotencyKey: 'once 7' },
  { parentRunId: 'parent' },
  { scheduleId: 'schedule 7' },
  { scheduleId: 'schedule 7', statuses: ['pending', 'running'] },
  { fromId: 'from', beforeId: 'id' },
  { statuses: ['completed'], fromId: 'from', beforeId: 'id' },
  { finishedFrom: 1 },
  { finishedBefore: 9_000_000_000_000 },
  { finishedFrom: 1, finishedBefore: 9_000_000_000_000, statuses: ['completed'], jobNames: ['job'] },
  { concurrencyKey: 'key 7', statuses: ['completed'], jobNames: ['job'] },
  { parentRunId: 'parent', statuses: ['completed'], jobNames: ['job'] },
  { labels: { tenant: 'many' } },
  { labels: { tenant: 'tenant 7' } },
  { labels: { tenant: 'tenant 7', kind: 'many' } },
  { labels: { tenant: 'many', kind: 'many' } },
  { labels: { tenant: 'many', rare: 'yes' } },
  { labels: { tenant: 'tenant 7' }, statuses: ['completed'], jobNames: ['job'], phases: ['completed'] },
  { labels: { tenant: 'many' }, fromId: 'from', beforeId: 'id' },
  { labels: { tenant: 'many', kind: 'many' }, concurrencyKey: 'key 7' },
  { labels: { tenant: 'many' }, finishedFrom: 1 },
]

const isByEnd = ({ finishedFrom, finishedBefore }: RunQuery) => finishedFrom !== undefined || finishedBefore !== undefined

export const QUERIES: RunQuery[] = CONDITIONS.flatMap((query) => [
  { ...query, limit: 20 },
  { ...query, limit: 20, oldestFirst: true, after: { id: 'place', ...(isByEnd(query) && { finishedAt: 5 }) } },
])
