import { describe, expect, test } from 'vitest'
import { decisionName } from './decision-name.ts'
import { iso } from './env.ts'
import { encodeWaits, NEVER_MS, type Wait } from './wait.ts'
import { waitsOf } from './waiting-for.ts'

const NOW = 1_000_000
const LATER = NOW + 5000

function parked(waits: readonly Wait[], facts: Partial<Parameters<typeof waitsOf>[0]> = {}) {
  const runAt = Math.min(...waits.map(({ dueAt }) => dueAt ?? NEVER_MS))
  return waitsOf(row({ runAt, waitingFor: encodeWaits(waits), ...facts }), NOW)
}

function row(facts: Partial<Parameters<typeof waitsOf>[0]> = {}): Parameters<typeof waitsOf>[0] {
  const nothing = { leaseExpiresAt: null, cancelRequestedAt: null, waitingFor: null, attempts: 0, deadlineAt: null, effects: null }
  return { status: 'pending', runAt: NOW, continuationState: null, assignedWorkerId: null, assignedAt: null, ...nothing, ...facts }
}

describe('waitsOf', () => {
  test.each(['running', 'completed', 'failed', 'cancelled'] as const)('a run that is %s waits for nothing', (status) => {
    expect(waitsOf(row({ status, runAt: LATER }), NOW)).toStrictEqual([])
  })

  test('a run that is due waits for a slot, whatever it was parked for', () => {
    expect(waitsOf(row(), NOW)).toStrictEqual([{ kind: 'slot' }])
    expect(parked([{ name: 'a', kind: 'signal', dueAt: null }], { runAt: NOW })).toStrictEqual([{ kind: 'slot' }])
  })

  test('the time of the store counts where it is known', () => {
    expect(waitsOf(row({ runAt: LATER, readAt: LATER }), NOW)).toStrictEqual([{ kind: 'slot' }])
  })

  test('a first start, and another attempt of the job', () => {
    expect(waitsOf(row({ runAt: LATER }), NOW)).toStrictEqual([{ kind: 'delay', until: iso(LATER) }])
    expect(waitsOf(row({ runAt: LATER, attempts: 1, waitingFor: '[]' }), NOW)).toStrictEqual([{ kind: 'retry', until: iso(LATER) }])
  })

  test('what an attempt of the job left behind does not hide that the next one is due first', () => {
    const left: Wait[] = [
      { name: 'nap', kind: 'sleep', dueAt: LATER + 9000 },
      { name: 'approval', kind: 'limit', dueAt: LATER },
    ]
    expect(parked(left, { runAt: LATER, attempts: 1 })).toStrictEqual([{ kind: 'retry', until: iso(LATER) }])
  })

  test('a sleep that the deadline cuts short is still a sleep', () => {
    const nap: Wait = { name: 'nap', kind: 'sleep', dueAt: LATER + 9000 }
    expect(parked([nap], { runAt: LATER, deadlineAt: LATER, attempts: 1 })).toStrictEqual([
      { kind: 'sleep', step: 'nap', until: iso(LATER + 9000) },
    ])
  })

  test('each kind of wait is named', () => {
    expect(parked([{ name: 'nap', kind: 'sleep', dueAt: LATER }])).toStrictEqual([{ kind: 'sleep', step: 'nap', until: iso(LATER) }])
    expect(parked([{ name: 'call', kind: 'retry', dueAt: LATER }])).toStrictEqual([{ kind: 'step retry', step: 'call', until: iso(LATER) }])
    expect(parked([{ name: 'approval', kind: 'signal', dueAt: null }])).toStrictEqual([{ kind: 'signal', name: 'approval', until: null }])
    expect(parked([{ name: 'approval', kind: 'signal', dueAt: LATER }])).toStrictEqual([
      { kind: 'signal', name: 'approval', until: iso(LATER) },
    ])
    const effects = JSON.stringify([{ name: 'pay/card', generation: 3 }])
    expect(parked([{ name: decisionName('pay/card', 3), kind: 'signal', dueAt: null }], { effects })).toStrictEqual([
      { kind: 'decision', step: 'pay/card' },
    ])
    expect(parked([{ name: 'invoke job', kind: 'child', dueAt: null }])).toStrictEqual([
      { kind: 'child', step: 'invoke job', runId: null, jobName: null },
    ])
  })

  test('a decision about an earlier start of an effect, or about one that is settled, is waited for no more', () => {
    const about = (step: string, generation: number): Wait => ({ name: decisionName(step, generation), kind: 'signal', dueAt: null })
    const effects = JSON.stringify([{ name: 'pay', generation: 3 }])
    expect(parked([about('settled', 2), about('pay', 2), about('pay', 3)], { effects })).toStrictEqual([{ kind: 'decision', step: 'pay' }])
  })

  test('what is over is waited for no more', () => {
    const over: Wait = { name: 'call', kind: 'retry', dueAt: LATER - 1 }
    const nap: Wait = { name: 'nap', kind: 'sleep', dueAt: LATER }
    expect(parked([over, nap], { runAt: LATER })).toStrictEqual([{ kind: 'sleep', step: 'nap', until: iso(LATER) }])
  })

  test('of several, what no clock ends comes first, then what is due first', () => {
    const waits = parked([
      { name: 'late', kind: 'sleep', dueAt: LATER + 1 },
      { name: 'early', kind: 'signal', dueAt: LATER },
      { name: 'never', kind: 'signal', dueAt: null },
    ])
    expect(waits.map((wait) => ('name' in wait ? wait.name : 'step' in wait ? wait.step : wait.kind))).toStrictEqual([
      'never',
      'early',
      'late',
    ])
  })
})
