import { expect, test } from 'vitest'
import { PHASES, type Phase, type PhaseFacts, phase } from './phase.ts'
import { encodeWaits, type Wait } from './wait.ts'

const NOW = 1_000

function facts(given: Partial<PhaseFacts>): PhaseFacts {
  return {
    status: 'pending',
    runAt: NOW,
    leaseExpiresAt: null,
    cancelRequestedAt: null,
    waitingFor: null,
    continuationState: null,
    assignedWorkerId: null,
    assignedAt: null,
    ...given,
  }
}

function waits(...kinds: Wait['kind'][]): string {
  return encodeWaits(kinds.map((kind) => ({ name: kind, kind, dueAt: null })))
}

const CASES: [Partial<PhaseFacts>, Phase][] = [
  [{ status: 'pending', runAt: NOW - 1 }, 'pending'],
  [{ status: 'pending', runAt: NOW }, 'pending'],
  [{ status: 'pending', runAt: NOW + 1 }, 'sleeping'],
  [{ status: 'pending', runAt: NOW + 1, waitingFor: waits('sleep', 'retry') }, 'sleeping'],
  [{ status: 'pending', runAt: NOW + 1, waitingFor: waits('sleep', 'signal') }, 'waiting'],
  [{ status: 'pending', runAt: NOW + 1, waitingFor: waits('child') }, 'waiting'],
  [{ status: 'pending', runAt: NOW, waitingFor: waits('signal') }, 'pending'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, waitingFor: waits('signal') }, 'running'],
  [{ status: 'running', leaseExpiresAt: NOW + 1 }, 'running'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, runAt: NOW + 1 }, 'running'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, cancelRequestedAt: 1 }, 'cancelling'],
  [{ status: 'running', leaseExpiresAt: NOW }, 'stale'],
  [{ status: 'running', leaseExpiresAt: NOW - 1, cancelRequestedAt: 1 }, 'stale'],
  [{ status: 'pending', assignedWorkerId: 'a', assignedAt: 1 }, 'assigned'],
  [{ status: 'pending', assignedAt: 1 }, 'orphaned'],
  [{ status: 'pending', runAt: NOW + 1, assignedAt: 1 }, 'sleeping'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, assignedWorkerId: 'a', assignedAt: 1 }, 'running'],
  [{ status: 'running', leaseExpiresAt: null }, 'running'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, continuationState: 'CONFIRMING' }, 'confirming'],
  [{ status: 'running', leaseExpiresAt: NOW + 1, continuationState: 'CONFIRMING', cancelRequestedAt: 1 }, 'confirming'],
  [{ status: 'running', leaseExpiresAt: NOW, continuationState: 'CONFIRMING' }, 'stale'],
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
