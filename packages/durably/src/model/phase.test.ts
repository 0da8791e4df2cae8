import { expect, test } from 'vitest'
import { PHASES, type Phase, type PhaseFacts, phase } from './phase.ts'

const NOW = 1_000

function facts(given: Partial<PhaseFacts>): PhaseFacts {
  return { status: 'pending', runAt: NOW, leaseExpiresAt: null, cancelRequestedAt: null, ...given }
}

const CASES: [Partial<PhaseFacts>, Phase][] = [
  [{ status: 'pending', runAt: NOW - 1 }, 'pending'],
  [{ status: 'pending', runAt: NOW }, 'pending'],
  [{ status: 'pending', runAt: NOW + 1 }, 'sleeping'],
  [{ status: 'running', leaseExpiresAt: NOW + 1 }, 'running'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, runAt: NOW + 1 }, 'running'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, cancelRequestedAt: 1 }, 'cancelling'],
  [{ status: 'running', leaseExpiresAt: NOW }, 'stale'],
  [{ status: 'running', leaseExpiresAt: NOW - 1, cancelRequestedAt: 1 }, 'stale'],
  [{ status: 'running', leaseExpiresAt: null }, 'running'],
  [{ status: 'completed', cancelRequestedAt: 1, runAt: NOW + 1 }, 'completed'],
  [{ status: 'failed', runAt: NOW + 1 }, 'failed'],
  [{ status: 'cancelled', cancelRequestedAt: 1 }, 'cancelled'],
]

test.each(CASES)('%j is %s', (given, expected) => {
  expect(phase(facts(given), NOW)).toBe(expected)
})

test('every phase can be met', () => {
  expect(new Set(CASES.map(([, expected]) => expected))).toStrictEqual(new Set(PHASES))
})
