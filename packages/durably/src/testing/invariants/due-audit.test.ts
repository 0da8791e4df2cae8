import { expect, test } from 'vitest'
import type { RunRow } from '../../model/run.ts'
import { DueAudit } from './due-audit.ts'

const NOW = 1000
const CANCELLED = row({ id: 'parent', status: 'cancelled', cancelRequestedAt: 1 })
const RUNNING = row({ id: 'child', parentRunId: 'parent', status: 'running' })
const ASLEEP = row({ id: 'child', parentRunId: 'parent', version: 1, runAt: NOW + 25 })

test('accuses a run that sleeps although the run above it was cancelled', () => {
  expect(accused([CANCELLED, RUNNING], [CANCELLED, ASLEEP])).toEqual(['I15'])
})

test('accuses no run that was retried after the cancelled run above it was purged', () => {
  expect(accused([CANCELLED, RUNNING], [RUNNING], [ASLEEP])).toEqual([])
})

test('accuses a run that was itself asked to stop and sleeps', () => {
  expect(accused([RUNNING], [{ ...ASLEEP, cancelRequestedAt: 1 }])).toEqual(['I15'])
})

function row(columns: Partial<RunRow>): RunRow {
  const unset = { parentRunId: null, cancelRequestedAt: null, deadlineAt: null, waitingFor: null }
  return { ...unset, status: 'pending', version: 0, runAt: 0, leaseWrites: 0, ...columns } as RunRow
}

function accused(...looks: RunRow[][]): string[] {
  const audit = new DueAudit()
  for (const runs of looks) audit.look(runs, NOW)
  return audit.violations.map(({ invariant }) => invariant)
}
